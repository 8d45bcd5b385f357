// Names and keys for what the theme's own scripts add: copy buttons without a name, wide tables that no key can scroll, and
// navigations of the same name. Pages are complete without it.
function mend() {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((element, number) => {
    element.setAttribute("aria-label", "Code block " + (number + 1));
  });
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, .md-typeset p:has(> img)").forEach((element) => {
    if (element.scrollWidth > element.clientWidth) element.setAttribute("tabindex", "0");
  });
  const names = new Set();
  document.querySelectorAll("nav.md-nav[aria-labelledby]").forEach((element) => {
    const label = document.getElementById(element.getAttribute("aria-labelledby"));
    const name = (label || element).textContent.trim();
    if (names.has(name)) {
      element.removeAttribute("aria-labelledby");
      element.setAttribute("aria-label", name + ", level " + (element.dataset.mdLevel || names.size));
    }
    names.add(name);
  });
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
window.addEventListener("resize", mend);
mend();
