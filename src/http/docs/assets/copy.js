// Puts the page's own address into its commands, and copies them.
for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;

const announce = document.querySelector('.announce');
for (const button of document.querySelectorAll('.curl button')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const command = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(command.textContent);
      announce.textContent = 'Copied';
    } catch {
      // Over plain HTTP a browser may refuse the clipboard. The command is then selected instead.
      getSelection().selectAllChildren(command);
      announce.textContent = 'Selected: copy it with the keyboard';
    }
    setTimeout(() => {
      announce.textContent = '';
    }, 2000);
  });
}
