"use strict";
// One result: read the knobs, ask for a run, show what comes of it. Text goes in as text only.

(() => {
  const $ = (id) => document.getElementById(id);
  const bench = $("bench");
  const name = bench.dataset.result;
  const signs = JSON.parse(bench.dataset.signs);
  const tab = [...crypto.getRandomValues(new Uint32Array(3))].map((n) => n.toString(36)).join("");
  const knobs = [...document.querySelectorAll(".knob")].map((box) => ({
    box,
    name: box.dataset.name,
    form: box.dataset.form,
    book: box.dataset.book,
    inputs: [...box.querySelectorAll("input, select, textarea")],
    back: box.querySelector(".back"),
  }));
  const WAIT = 120; // ms of quiet before a run
  const PATIENCE = 700; // ms that a run may take before a newer one supersedes it
  let mine = null; // the last answer with these settings
  let books = null; // the answer with the book's
  let asked_book = false;
  let under_way = null; // { started, values }
  let timer = 0;
  let chosen = ""; // the figure that is shown

  // --- the knobs -----------------------------------------------------------------------------
  const field = (knob) => knob.inputs[knob.inputs.length - 1];
  const slider = (knob) => (knob.form === "number" ? knob.inputs[0] : null);
  const stops = (knob) => slider(knob).dataset.stops.split(" ");
  const entries = (text) => {
    try { return JSON.parse(text).map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry))); }
    catch { return []; }
  };

  const read = (knob) => {
    if (knob.form === "switch") return String(knob.inputs[0].checked);
    if (knob.form === "several") {
      const words = knob.inputs.filter((input) => input.checked).map((input) => input.value);
      const numbers = !knob.book.includes('"') && knob.book !== "[]" && words.every((w) => /^-?\d+$/.test(w));
      return `[${words.map((w) => (numbers ? w : JSON.stringify(w))).join(", ")}]`;
    }
    return field(knob).value;
  };

  const write = (knob, text) => {
    if (knob.form === "switch") knob.inputs[0].checked = text === "true";
    else if (knob.form === "several") {
      const wanted = entries(text);
      for (const input of knob.inputs) input.checked = wanted.includes(input.value);
    } else field(knob).value = text;
    place(knob);
  };

  const place = (knob) => {
    if (!slider(knob)) return;
    const value = Number(field(knob).value);
    if (field(knob).value.trim() && Number.isFinite(value)) {
      const near = stops(knob).map((stop) => Math.abs(Number(stop) - value));
      slider(knob).value = near.indexOf(Math.min(...near));
    }
    slider(knob).setAttribute("aria-valuetext", field(knob).value || "none");
  };

  const moved = () => {
    const values = {};
    for (const knob of knobs) {
      const text = read(knob);
      if (text !== knob.book) values[knob.name] = text;
    }
    return values;
  };

  const mark = (differing) => {
    for (const knob of knobs) {
      const differs = differing ? differing.includes(knob.name) : read(knob) !== knob.book;
      knob.box.classList.toggle("moved", differs);
      knob.back.hidden = read(knob) === knob.book;
    }
    $("reset").disabled = Object.keys(moved()).length === 0;
  };

  const note_address = () => {
    const query = new URLSearchParams(moved());
    const view = document.querySelector("#views input:checked").value;
    if (view !== "yours") query.set("view", view);
    if (chosen && mine && mine.figures.length && chosen !== mine.figures[0].name) query.set("figure", chosen);
    const text = query.toString();
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
  };

  // --- asking --------------------------------------------------------------------------------
  const post = async (path, content, signal) => {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(content),
      signal,
    });
    if (!response.ok) throw new Error((await response.text()).trim() || `status ${response.status}`);
    return response.json();
  };
  const unreachable = (error) =>
    error instanceof TypeError ? "the server does not answer; is `bythebook explore` still running?" : error.message;

  const later = (wait = WAIT) => {
    clearTimeout(timer);
    mark();
    note_address();
    timer = setTimeout(() => {
      // What is nearly done may finish and be seen; what is slow is superseded.
      const age = under_way ? performance.now() - under_way.started : Infinity;
      if (age < PATIENCE) later(Math.max(30, Math.min(WAIT, PATIENCE - age)));
      else run();
    }, wait);
  };

  const run = async () => {
    const values = moved();
    const asked = { started: performance.now(), values };
    under_way = asked;
    $("keep").disabled = true;
    tick();
    let answer;
    try {
      answer = await post("/run", { tab, result: name, values });
    } catch (error) {
      answer = { problems: [unreachable(error)] };
    }
    if (under_way !== asked) return; // a newer one is under way
    under_way = null;
    $("cancel").hidden = true;
    bench.classList.remove("waiting");
    bench.removeAttribute("aria-busy");
    show(answer);
  };

  const tick = () => {
    if (!under_way) return;
    const seconds = (performance.now() - under_way.started) / 1000;
    if (seconds > 0.3) {
      bench.classList.add("waiting");
      bench.setAttribute("aria-busy", "true");
      $("cancel").hidden = false;
      status(`running, ${seconds.toFixed(1)} s`, true);
    }
    setTimeout(tick, 100);
  };

  const status = (text, quiet = false) => {
    // A clock that speaks ten times a second would be no help to those who listen.
    $("status").setAttribute("aria-live", quiet ? "off" : "polite");
    $("status").textContent = text;
  };

  const ask_book = async () => {
    if (books || asked_book) return;
    asked_book = true;
    try {
      const answer = await post("/run", { tab: `${tab}-book`, result: name, values: {}, behind: true });
      if (answer.figures) books = answer;
      else if (!answer.stopped) $("books").querySelector("figcaption").textContent = `the book's settings: ${answer.problems.join("; ")}`;
    } catch { /* the run beside it tells */ }
    draw();
  };

  // --- showing -------------------------------------------------------------------------------
  const duration = (seconds) => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`);

  const show = (answer) => {
    const lines = answer.problems || [];
    for (const knob of knobs) {
      const wrong = lines.some((line) => line.startsWith(`${knob.name}=`));
      for (const input of knob.inputs) wrong ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    }
    $("problem").hidden = !lines.length && !answer.undrawn;
    $("problem").textContent = lines.concat(answer.undrawn || []).join("; ");
    bench.classList.toggle("stale", Boolean(mine) && !answer.figures);
    if (!answer.figures) {
      status(answer.stopped || (mine ? "not run: what is shown is the last that was" : "not run"));
      return;
    }
    mine = answer;
    if (!answer.differs.length) books = answer;
    else ask_book();
    const found = answer.recorded ? `already recorded (run ${answer.recorded})` : `computed in ${duration(answer.seconds)}`;
    status(`${found}, drawn in ${duration(answer.drawing)}`);
    $("keep").disabled = false;
    $("kept").textContent = "";
    $("command").textContent = answer.command;
    mark(answer.differs);
    note_address();
    draw();
  };

  const draw = () => {
    const last = mine || books; // while the first run with other settings is under way: the book's
    if (!last) return;
    const own = last.differs.length > 0;
    $("views").hidden = !own;
    const view = own ? document.querySelector("#views input:checked").value : "yours";
    tabs(last.figures);
    picture($("yours"), last, view !== "book");
    picture($("books"), books, view !== "yours");
    $("yours").querySelector("figcaption").textContent = own ? "your settings" : "the book's settings";
    $("pictures").classList.toggle("pair", view === "both");
    claims();
    numbers();
  };

  const picture = (box, answer, shown) => {
    box.hidden = !shown;
    const image = box.querySelector("img");
    const found = answer && (answer.figures.find((figure) => figure.name === chosen) || answer.figures[0]);
    image.hidden = !found;
    if (!found) return;
    image.width = found.width;
    image.height = found.height;
    image.alt = found.alt;
    if (image.src !== found.src) image.src = found.src;
  };

  const tabs = (figures) => {
    const names = figures.map((figure) => figure.name);
    if (!names.includes(chosen)) chosen = names[0] || "";
    const box = $("figures");
    box.hidden = names.length < 2;
    if (box.dataset.names !== names.join(" ")) {
      box.dataset.names = names.join(" ");
      for (const old of box.querySelectorAll("label")) old.remove();
      for (const figure of figures) {
        const label = document.createElement("label");
        const input = Object.assign(document.createElement("input"), { type: "radio", name: "figure", value: figure.name });
        const word = document.createElement("span");
        word.textContent = figure.title;
        label.append(input, word);
        box.append(label);
      }
    }
    for (const input of box.querySelectorAll("input")) input.checked = input.value === chosen;
  };

  const told = (cell, claim, judged) => {
    cell.replaceChildren();
    cell.classList.toggle("quiet", !claim);
    if (!claim) {
      cell.textContent = judged ? "not judged: it speaks of what is not computed here" : "";
      return;
    }
    const value = document.createElement("span");
    value.className = "computed";
    value.textContent = claim.computed;
    const verdict = document.createElement("span");
    verdict.className = `verdict ${claim.standing.replaceAll(" ", "-")}`;
    const sign = document.createElement("span");
    sign.className = "sign";
    sign.setAttribute("aria-hidden", "true");
    sign.textContent = signs[claim.standing];
    verdict.append(sign, ` ${claim.standing}${claim.weak ? " (weak)" : ""}`);
    cell.append(value, " ", verdict);
  };

  const claims = () => {
    const own = Boolean(mine && mine.differs.length);
    [...document.querySelectorAll("#claims tr")].forEach((row, i) => {
      const [of_book, of_mine] = [books ? books.claims[i] : null, own ? mine.claims[i] : null];
      told(row.querySelector(".of-book"), of_book, books);
      told(row.querySelector(".of-yours"), of_mine, own);
      const turned = own && of_book && of_mine && of_book.standing !== of_mine.standing;
      row.classList.toggle("turned", Boolean(turned));
    });
  };

  const numbers = () => {
    const differs = mine && mine.differs.length;
    const [own, of_book] = [new Map(differs ? mine.numbers : []), new Map(books ? books.numbers : [])];
    const body = document.querySelector("#numbers tbody");
    $("numbers").hidden = own.size + of_book.size === 0;
    body.replaceChildren(
      ...[...new Set([...of_book.keys(), ...own.keys()])].map((quantity) => {
        const row = document.createElement("tr");
        const head = document.createElement("th");
        head.scope = "row";
        const code = document.createElement("code");
        code.textContent = quantity;
        head.append(code);
        const cells = [of_book, own].map((values) => {
          const cell = document.createElement("td");
          cell.className = "number";
          cell.textContent = values.get(quantity) ?? "";
          return cell;
        });
        row.append(head, ...cells);
        return row;
      })
    );
  };

  // --- what the user does --------------------------------------------------------------------
  for (const knob of knobs) {
    for (const input of knob.inputs) {
      input.addEventListener("input", () => {
        if (input === slider(knob)) {
          field(knob).value = stops(knob)[Number(input.value)];
          input.setAttribute("aria-valuetext", field(knob).value);
        } else place(knob);
        later(input.type === "text" || input.localName === "textarea" ? 3 * WAIT : WAIT);
      });
    }
    knob.back.addEventListener("click", () => {
      write(knob, knob.book);
      field(knob).focus();
      later(0);
    });
  }
  $("knobs").addEventListener("submit", (event) => event.preventDefault());
  $("reset").addEventListener("click", () => {
    for (const knob of knobs) write(knob, knob.book);
    later(0);
  });
  $("cancel").addEventListener("click", () => post("/cancel", { tab }).catch(() => {}));
  $("keep").addEventListener("click", async () => {
    $("keep").disabled = true;
    $("kept").textContent = "keeping it ...";
    const values = moved();
    let line;
    try {
      const answer = await post("/keep", { tab, result: name, values });
      if (answer.id) {
        line = `${answer.failed ? "failed" : "kept"} as run ${answer.id}`;
        if (!answer.computed) line += ", which was recorded already";
        if (answer.failed) line += `: ${answer.failed}`;
        line = [line, ...answer.told].join("; ");
      } else line = answer.stopped || answer.problems.join("; ");
    } catch (error) {
      line = unreachable(error);
    }
    $("kept").textContent = line;
    $("keep").disabled = false;
  });
  $("views").addEventListener("input", () => { draw(); note_address(); });
  $("figures").addEventListener("input", (event) => { chosen = event.target.value; draw(); note_address(); });

  const query = new URLSearchParams(location.search);
  const view = document.querySelector(`#views input[value="${CSS.escape(query.get("view") || "yours")}"]`);
  if (view) view.checked = true;
  chosen = query.get("figure") || "";
  const address = new URL(location.href);
  address.searchParams.delete("token"); // the cookie has it now
  history.replaceState(null, "", address);
  for (const knob of knobs) place(knob);
  mark();
  run();
  if (Object.keys(moved()).length) ask_book();
})();
