"use strict";
// Search and filter over the table of results. Without this file the table is simply whole.

(() => {
  const form = document.getElementById("filter");
  const count = document.getElementById("count");
  if (!form || !count) return;
  const rows = [...document.querySelectorAll("#results tbody tr")];
  const choices = ["book", "topic", "verdict", "grade"];

  const fits = (row) => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    return (
      words.every((word) => row.dataset.text.includes(word)) &&
      choices.every((name) => {
        const wanted = form.elements[name].value;
        return !wanted || row.dataset[name].split("|").includes(wanted);
      })
    );
  };

  const show = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      shown += !row.hidden;
    }
    count.textContent =
      shown === rows.length ? `${rows.length} results` : `${shown} of ${rows.length} results`;
    // The address keeps the choice, so that a view can be sent to somebody.
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const query = chosen.toString();
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
  };

  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  show();
})();

// What is folded away on the screen belongs on paper.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
