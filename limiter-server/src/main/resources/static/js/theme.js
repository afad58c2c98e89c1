// Runs before the page is drawn, so that it never flashes in the other theme.
(() => {
  const themes = ['auto', 'light', 'dark'];
  let theme = 'auto';
  try {
    theme = themes.includes(localStorage.getItem('theme')) ? localStorage.getItem('theme') : 'auto';
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
  }
  const show = () => {
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById('theme');
    if (button) {
      button.textContent = `Theme: ${theme}`;
    }
    window.dispatchEvent(new Event('theme'));
  };
  show();
  document.addEventListener('DOMContentLoaded', () => {
    show();
    document.getElementById('theme').addEventListener('click', () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      try {
        localStorage.setItem('theme', theme);
      } catch {
        // As above.
      }
      show();
    });
  });
})();
