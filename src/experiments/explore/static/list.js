"use strict";
// Search over the list of results. The address contains the search, so that it can be shared.

(() => {
  const address = new URL(location.href);
  address.searchParams.delete("token"); // the cookie carries it from now on
  history.replaceState(null, "", address);

  const form = document.getElementById("filter");
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll(".results li")];
  // Map spelling variants to one form, as the command line does: -ise and -ize, behaviour and behavior.
  const normalise = (text) =>
    text.toLowerCase().replaceAll("_", " ").replaceAll("z", "s").replaceAll("our", "or").replaceAll("ll", "l");

  const show = () => {
    const words = normalise(form.elements.text.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(
        words.every((word) => row.dataset.words.includes(word)) &&
        ["book", "topic"].every((name) => !form.elements[name].value || row.dataset[name] === form.elements[name].value)
      );
      shown += !row.hidden;
    }
    for (const section of document.querySelectorAll(".book")) {
      section.hidden = !section.querySelector("li:not([hidden])");
    }
    count.textContent = shown === rows.length ? `${rows.length} results` : `${shown} of ${rows.length} results`;
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value)).toString();
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
  };

  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
