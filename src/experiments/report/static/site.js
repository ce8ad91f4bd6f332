"use strict";
// Search and filters. Without JavaScript all lists are complete, and the search form opens
// experiments.html.

const root = document.documentElement.dataset.root;

// The index is a script that sets `window.bythebook`, because pages opened from the file system may
// load scripts but not JSON. It is loaded when the search field first gets the focus.
let loading;
const index = () => {
  loading ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = `${root}search.js`;
    script.onload = () => {
      const { spellings, pages } = window.bythebook;
      const normalise = (text) =>
        spellings.reduce(
          (result, [variant, spelling]) => result.replaceAll(variant, spelling),
          `${text.toLowerCase().replaceAll("_", " ")} `,
        );
      resolve({
        normalise,
        pages: pages.map(([url, title, where, words]) => {
          const shown = normalise(`${title} ${where}`);
          return { url, title, where, shown, words: `${shown} ${words}` };
        }),
      });
    };
    script.onerror = () => resolve({ normalise: (text) => text.toLowerCase(), pages: [] });
    document.head.append(script);
  });
  return loading;
};
const wordsOf = (normalise, text) => normalise(text).split(/\s+/).filter(Boolean);
const hasAll = (text, words) => words.every((word) => text.includes(word));

// The search on every page: a list of matches; the arrow keys select one.
(() => {
  const MAX_MATCHES = 12;
  const form = document.getElementById("find");
  const input = form.elements.text;
  const list = document.getElementById("matches");
  const status = document.getElementById("matches-status");
  let chosen = -1;

  const choose = (index) => {
    const options = [...list.children];
    chosen = options.length ? (index + options.length) % options.length : -1;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === chosen)));
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    }
  };

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    chosen = -1;
    input.removeAttribute("aria-activedescendant");
  };

  const option = (url, title, where, number) => {
    const item = document.createElement("li");
    item.id = `match-${number}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    item.dataset.url = url;
    const about = document.createElement("span");
    about.className = "about";
    about.textContent = where;
    item.append(title, about);
    return item;
  };

  const show = async () => {
    const { normalise, pages } = await index();
    const words = wordsOf(normalise, input.value);
    if (!words.length) {
      list.replaceChildren();
      status.textContent = "";
      close();
      return;
    }
    const matches = pages.filter((page) => hasAll(page.words, words));
    // Matches in the title first; the sort is stable, so the order of the books remains.
    matches.sort((a, b) => hasAll(b.shown, words) - hasAll(a.shown, words));
    const options = matches
      .slice(0, MAX_MATCHES)
      .map((page, i) => option(root + page.url, page.title, page.where, i));
    if (matches.length > MAX_MATCHES) {
      const all = `${root}experiments.html?text=${encodeURIComponent(input.value)}`;
      options.push(option(all, "All results that contain these words", "", MAX_MATCHES));
    }
    list.replaceChildren(...options);
    status.textContent = `${matches.length} matches`;
    if (!matches.length) {
      const none = document.createElement("li");
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      none.setAttribute("aria-selected", "false");
      none.id = "match-none";
      none.textContent = "No page contains all of these words.";
      list.append(none);
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    chosen = -1;
  };

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", "matches");
  input.setAttribute("aria-autocomplete", "list");
  input.addEventListener("focus", index);
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (list.hidden) input.value = "";
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (list.hidden) show();
      else choose(chosen < 0 && step < 0 ? -1 : chosen + step);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      const { url } = list.children[chosen].dataset;
      if (url) location.href = url;
    }
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus
  list.addEventListener("click", (event) => {
    const url = event.target.closest("li")?.dataset.url;
    if (url) location.href = url;
  });
  form.addEventListener("focusout", close);
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
})();

// Filters of a list: the table of results, the gallery, the errata ledger.
(async () => {
  const form = document.getElementById("filter");
  if (!form) return;
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll(form.dataset.rows)];
  const choices = [...form.querySelectorAll("select")].map((choice) => choice.name);
  form.hidden = false;
  const { normalise, pages } = await index();
  const known = new Map(pages.map((page) => [page.url, page.words]));
  // A formula is searched by its source text.
  const row_texts = (row) =>
    [row.textContent, ...[...row.querySelectorAll("math")].map((m) => m.getAttribute("alttext"))];
  const texts = rows.map((row) => known.get(row.dataset.url) ?? normalise(row_texts(row).join(" ")));

  const fits = (row, text, words) =>
    hasAll(text, words) &&
    choices.every((name) => {
      const wanted = form.elements[name].value;
      return !wanted || row.dataset[name].split("|").includes(wanted);
    });

  const show = () => {
    const words = wordsOf(normalise, form.elements.text.value);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !fits(row, texts[i], words);
      shown += !row.hidden;
    });
    // Hide headings and entries of the contents together with the rows that they refer to.
    for (const part of document.querySelectorAll("[data-part]")) {
      part.hidden = !part.querySelector(`${form.dataset.rows}:not([hidden])`);
    }
    for (const entry of document.querySelectorAll("[data-with]")) {
      entry.hidden = document.getElementById(entry.dataset.with).hidden;
    }
    const all = `${rows.length} ${form.dataset.what}`;
    count.textContent = shown === rows.length ? all : `${shown} of ${all}`;
    // The address contains the filter, so that a filtered list can be shared.
    const picked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const query = picked.toString();
    history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
  };

  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  // A link to a hidden entry resets the filter.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("[hidden]")) form.reset();
    target?.scrollIntoView();
  });
  show();
})();

// A link opens its target and the folded section that contains it; printing opens all sections.
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  const own = target && target.querySelector(":scope > details");
  if (own) own.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
