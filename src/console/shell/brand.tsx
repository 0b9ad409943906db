import { useText } from '../i18n/use-text.ts';
import { Link } from './router.tsx';

/** The console's sign and name, which lead to its first page. */
export function Brand() {
  const { shell } = useText();
  return (
    <Link to="/dashboard" className="brand">
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
        <rect width="32" height="32" rx="7" fill="#1971c2" />
        <path
          d="M7 22l6-7 5 4 7-10"
          fill="none"
          stroke="#fff"
          strokeWidth="3"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      {shell.title}
    </Link>
  );
}
