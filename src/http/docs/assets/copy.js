// Shows the address that the page came from in its commands, and copies them.
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
      // Over plain HTTP a browser may not give the clipboard: then the command is at least selected.
      getSelection().selectAllChildren(command);
      announce.textContent = 'Selected: copy it with the keyboard';
    }
    setTimeout(() => {
      announce.textContent = '';
    }, 2000);
  });
}
