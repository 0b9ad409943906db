import '@mantine/core/styles/baseline.css';
import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles/global.css';
import './shell/mantine.css';
import './shell/console.css';
import './chart/chart.css';
import './parts/parts.css';
import { createRoot } from 'react-dom/client';
import { loadAnewWhenBack } from './again.ts';
import { loadLanguage, preferredLanguage } from './i18n/languages.ts';
import { OPENED } from './link/opened.ts';
import { Console } from './shell/console.tsx';
import { beginPage, LinkWindow } from './shell/pages.tsx';
import { beginSession, SignedIn } from './shell/signed-in.tsx';

const element = document.getElementById('console');
if (element === null) throw new Error('The page has no element for the console.');
const root = createRoot(element);
// All at once: the texts, the session, and the page's own needs.
if (OPENED === null) beginSession();
beginPage();
// Nothing is shown in a wrong language first.
loadLanguage(preferredLanguage()).then(
  (language) =>
    root.render(<Console language={language}>{OPENED === null ? <SignedIn /> : <LinkWindow />}</Console>),
  () => void loadAnewWhenBack(),
);
