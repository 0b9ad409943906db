// Adds the parts of the pages that need a script. Without it they can be read, and show each call in all languages.
import { watchCalls } from './call.js';
import { watchMenu } from './menu.js';
import { watchSearch } from './search.js';
import { watchTabs } from './tabs.js';

for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;
watchMenu();
watchSearch();
watchTabs();
watchCalls();
// Styles that only make sense with the script wait for this.
document.documentElement.classList.add('scripted');
