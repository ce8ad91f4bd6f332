"use strict";
// Search and filters. Without this file every list is simply whole, and the search leads to it.

const root = document.documentElement.dataset.root;

// The index is a script that says `window.bythebook = ...`: pages opened from the file system
// may load scripts and nothing else. It is fetched when somebody is about to search.
let loading;
const index = () => {
  loading ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = `${root}search.js`;
    script.onload = () => {
      const { spellings, pages } = window.bythebook;
      const plain = (text) =>
        spellings.reduce(
          (found, [other, ours]) => found.replaceAll(other, ours),
          `${text.toLowerCase().replaceAll("_", " ")} `,
        );
      resolve({
        plain,
        pages: pages.map(([url, title, where, words]) => {
          const shown = plain(`${title} ${where}`);
          return { url, title, where, shown, words: `${shown} ${words}` };
        }),
      });
    };
    script.onerror = () => resolve({ plain: (text) => text.toLowerCase(), pages: [] });
    document.head.append(script);
  });
  return loading;
};
const wordsOf = (plain, text) => plain(text).split(/\s+/).filter(Boolean);
const hasAll = (text, words) => words.every((word) => text.includes(word));

// The search on every page: a list of what fits, to be walked with the arrows.
(() => {
  const MOST = 12;
  const form = document.getElementById("find");
  const input = form.elements.text;
  const list = document.getElementById("found");
  const status = document.getElementById("found-status");
  let chosen = -1;

  const choose = (place) => {
    const options = [...list.children];
    chosen = options.length ? (place + options.length) % options.length : -1;
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
    item.id = `found-${number}`;
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
    const { plain, pages } = await index();
    const words = wordsOf(plain, input.value);
    if (!words.length) {
      list.replaceChildren();
      status.textContent = "";
      close();
      return;
    }
    const fits = pages.filter((page) => hasAll(page.words, words));
    fits.sort((a, b) => hasAll(b.shown, words) - hasAll(a.shown, words)); // stable: the books' order
    const options = fits
      .slice(0, MOST)
      .map((page, i) => option(root + page.url, page.title, page.where, i));
    if (fits.length > MOST) {
      const all = `${root}experiments.html?text=${encodeURIComponent(input.value)}`;
      options.push(option(all, "All results that have these words", "", MOST));
    }
    list.replaceChildren(...options);
    status.textContent = `${fits.length} found`;
    if (!fits.length) {
      const none = document.createElement("li");
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      none.setAttribute("aria-selected", "false");
      none.id = "found-none";
      none.textContent = "Nothing has all these words.";
      list.append(none);
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    chosen = -1;
  };

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", "found");
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
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays
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

// Filters over a list: the table of results, the gallery, the errata ledger.
(async () => {
  const form = document.getElementById("filter");
  if (!form) return;
  const count = document.getElementById("count");
  const rows = [...document.querySelectorAll(form.dataset.rows)];
  const choices = [...form.querySelectorAll("select")].map((choice) => choice.name);
  form.hidden = false;
  const { plain, pages } = await index();
  const known = new Map(pages.map((page) => [page.url, page.words]));
  // Formulas are found by what their source says.
  const said = (row) =>
    [row.textContent, ...[...row.querySelectorAll("math")].map((m) => m.getAttribute("alttext"))];
  const texts = rows.map((row) => known.get(row.dataset.url) ?? plain(said(row).join(" ")));

  const fits = (row, text, words) =>
    hasAll(text, words) &&
    choices.every((name) => {
      const wanted = form.elements[name].value;
      return !wanted || row.dataset[name].split("|").includes(wanted);
    });

  const show = () => {
    const words = wordsOf(plain, form.elements.text.value);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !fits(row, texts[i], words);
      shown += !row.hidden;
    });
    // Headings and lists of contents go with what they stand for.
    for (const part of document.querySelectorAll("[data-part]")) {
      part.hidden = !part.querySelector(`${form.dataset.rows}:not([hidden])`);
    }
    for (const entry of document.querySelectorAll("[data-with]")) {
      entry.hidden = document.getElementById(entry.dataset.with).hidden;
    }
    const all = `${rows.length} ${form.dataset.what}`;
    count.textContent = shown === rows.length ? all : `${shown} of ${all}`;
    // The address keeps the choice, so that a view can be sent to somebody.
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
  // A link to an entry shows it, whatever was chosen before.
  addEventListener("hashchange", () => {
    const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (aim?.closest("[hidden]")) form.reset();
    aim?.scrollIntoView();
  });
  show();
})();

// What is folded away on the screen belongs on paper; and a link opens what it leads into.
const unfold = () => {
  const aim = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = aim; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  if (aim) aim.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
