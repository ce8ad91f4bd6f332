"use strict";
// The page of one result: read the parameters, request a run, show the response.
// Text from the server is inserted with textContent, never as HTML.

(() => {
  const $ = (id) => document.getElementById(id);
  const bench = $("bench");
  const name = bench.dataset.result;
  const signs = JSON.parse(bench.dataset.signs);
  const tab = [...crypto.getRandomValues(new Uint32Array(3))].map((n) => n.toString(36)).join("");
  const parameters = [...document.querySelectorAll(".parameter")].map((box) => ({
    box,
    name: box.dataset.name,
    kind: box.dataset.kind,
    published: box.dataset.published,
    inputs: [...box.querySelectorAll("input, select, textarea")],
    back: box.querySelector(".back"),
  }));
  const DELAY_MS = 120; // between the last change and the run
  const MIN_AGE_MS = 700; // of a run before a newer one supersedes it
  let mine = null; // the last response with the present settings
  let published = null; // the response with the published settings
  let published_requested = false;
  let running = null; // { started, values }
  let timer = 0;
  let chosen = ""; // name of the figure that is shown

  // --- parameters ----------------------------------------------------------------------------
  const field = (parameter) => parameter.inputs[parameter.inputs.length - 1];
  const slider = (parameter) => (parameter.kind === "number" ? parameter.inputs[0] : null);
  const slider_values = (parameter) => slider(parameter).dataset.values.split(" ");
  const entries = (text) => {
    try { return JSON.parse(text).map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry))); }
    catch { return []; }
  };

  const read = (parameter) => {
    if (parameter.kind === "switch") return String(parameter.inputs[0].checked);
    if (parameter.kind === "several") {
      const words = parameter.inputs.filter((input) => input.checked).map((input) => input.value);
      const numbers = !parameter.published.includes('"') && parameter.published !== "[]" && words.every((w) => /^-?\d+$/.test(w));
      return `[${words.map((w) => (numbers ? w : JSON.stringify(w))).join(", ")}]`;
    }
    return field(parameter).value;
  };

  const write = (parameter, text) => {
    if (parameter.kind === "switch") parameter.inputs[0].checked = text === "true";
    else if (parameter.kind === "several") {
      const wanted = entries(text);
      for (const input of parameter.inputs) input.checked = wanted.includes(input.value);
    } else field(parameter).value = text;
    place_slider(parameter);
  };

  const place_slider = (parameter) => {
    if (!slider(parameter)) return;
    const value = Number(field(parameter).value);
    if (field(parameter).value.trim() && Number.isFinite(value)) {
      const near = slider_values(parameter).map((number) => Math.abs(Number(number) - value));
      slider(parameter).value = near.indexOf(Math.min(...near));
    }
    slider(parameter).setAttribute("aria-valuetext", field(parameter).value || "none");
  };

  const changed_values = () => {
    const values = {};
    for (const parameter of parameters) {
      const text = read(parameter);
      if (text !== parameter.published) values[parameter.name] = text;
    }
    return values;
  };

  const mark_changed = (differing) => {
    for (const parameter of parameters) {
      const differs = differing ? differing.includes(parameter.name) : read(parameter) !== parameter.published;
      parameter.box.classList.toggle("changed", differs);
      parameter.back.hidden = read(parameter) === parameter.published;
    }
    $("reset").disabled = Object.keys(changed_values()).length === 0;
  };

  const update_address = () => {
    const query = new URLSearchParams(changed_values());
    const view = document.querySelector("#views input:checked").value;
    if (view !== "yours") query.set("view", view);
    if (chosen && mine && mine.figures.length && chosen !== mine.figures[0].name) query.set("figure", chosen);
    const text = query.toString();
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
  };

  // --- requests ------------------------------------------------------------------------------
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

  const schedule_run = (wait = DELAY_MS) => {
    clearTimeout(timer);
    mark_changed();
    update_address();
    timer = setTimeout(() => {
      // A young run may finish and be shown; an old, slow one is superseded.
      const age = running ? performance.now() - running.started : Infinity;
      if (age < MIN_AGE_MS) schedule_run(Math.max(30, Math.min(DELAY_MS, MIN_AGE_MS - age)));
      else run();
    }, wait);
  };

  const run = async () => {
    const values = changed_values();
    const request = { started: performance.now(), values };
    running = request;
    $("save").disabled = true;
    tick();
    let answer;
    try {
      answer = await post("/run", { tab, result: name, values });
    } catch (error) {
      answer = { problems: [unreachable(error)] };
    }
    if (running !== request) return; // a newer run has started
    running = null;
    $("cancel").hidden = true;
    bench.classList.remove("waiting");
    bench.removeAttribute("aria-busy");
    show(answer);
  };

  const tick = () => {
    if (!running) return;
    const seconds = (performance.now() - running.started) / 1000;
    if (seconds > 0.3) {
      bench.classList.add("waiting");
      bench.setAttribute("aria-busy", "true");
      $("cancel").hidden = false;
      status(`running, ${seconds.toFixed(1)} s`, true);
    }
    setTimeout(tick, 100);
  };

  const status = (text, quiet = false) => {
    // A screen reader must not announce the elapsed time ten times a second.
    $("status").setAttribute("aria-live", quiet ? "off" : "polite");
    $("status").textContent = text;
  };

  const request_published = async () => {
    if (published || published_requested) return;
    published_requested = true;
    try {
      const answer = await post("/run", { tab: `${tab}-published`, result: name, values: {}, background: true });
      if (answer.figures) published = answer;
      else if (!answer.stopped) $("books").querySelector("figcaption").textContent = `published settings: ${answer.problems.join("; ")}`;
    } catch { /* the run with the present settings reports the failure */ }
    draw();
  };

  // --- display -------------------------------------------------------------------------------
  const duration = (seconds) => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`);

  const show = (answer) => {
    const lines = answer.problems || [];
    for (const parameter of parameters) {
      const wrong = lines.some((line) => line.startsWith(`${parameter.name}=`));
      for (const input of parameter.inputs) wrong ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    }
    $("problem").hidden = !lines.length && !answer.undrawn;
    $("problem").textContent = lines.concat(answer.undrawn || []).join("; ");
    bench.classList.toggle("stale", Boolean(mine) && !answer.figures);
    if (!answer.figures) {
      status(answer.stopped || (mine ? "Not run. The page shows the previous run." : "Not run."));
      return;
    }
    mine = answer;
    if (!answer.differs.length) published = answer;
    else request_published();
    const origin = answer.recorded ? `cached (run ${answer.recorded})` : `computed in ${duration(answer.seconds)}`;
    status(`${origin}, drawn in ${duration(answer.drawing)}`);
    $("save").disabled = false;
    $("saved").textContent = "";
    $("command").textContent = answer.command;
    mark_changed(answer.differs);
    update_address();
    draw();
  };

  const draw = () => {
    const last = mine || published; // published until the first run with other settings is done
    if (!last) return;
    const own = last.differs.length > 0;
    $("views").hidden = !own;
    const view = own ? document.querySelector("#views input:checked").value : "yours";
    tabs(last.figures);
    picture($("yours"), last, view !== "book");
    picture($("books"), published, view !== "yours");
    $("yours").querySelector("figcaption").textContent = own ? "your settings" : "published settings";
    $("pictures").classList.toggle("pair", view === "both");
    claims();
    numbers();
  };

  const picture = (box, answer, shown) => {
    box.hidden = !shown;
    const image = box.querySelector("img");
    const figure = answer && (answer.figures.find((entry) => entry.name === chosen) || answer.figures[0]);
    image.hidden = !figure;
    if (!figure) return;
    image.width = figure.width;
    image.height = figure.height;
    image.alt = figure.alt;
    if (image.src !== figure.src) image.src = figure.src;
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

  const show_verdict = (cell, claim, available) => {
    cell.replaceChildren();
    cell.classList.toggle("quiet", !claim);
    if (!claim) {
      cell.textContent = available ? "not evaluated: these settings do not compute a quantity that the claim needs" : "";
      return;
    }
    const value = document.createElement("span");
    value.className = "computed";
    value.textContent = claim.computed;
    const verdict = document.createElement("span");
    verdict.className = `verdict ${claim.category.replaceAll(" ", "-")}`;
    const sign = document.createElement("span");
    sign.className = "sign";
    sign.setAttribute("aria-hidden", "true");
    sign.textContent = signs[claim.category];
    verdict.append(sign, ` ${claim.verdict}`);
    cell.append(value, " ", verdict);
  };

  const claims = () => {
    const own = Boolean(mine && mine.differs.length);
    for (const row of document.querySelectorAll("[data-claim]")) {
      const i = Number(row.dataset.claim);
      const [of_book, of_mine] = [published ? published.claims[i] : null, own ? mine.claims[i] : null];
      show_verdict(row.querySelector(".of-book"), of_book, published);
      show_verdict(row.querySelector(".of-yours"), of_mine, own);
      const differs = own && of_book && of_mine && of_book.category !== of_mine.category;
      row.classList.toggle("differs", Boolean(differs));
      const [book_line, own_line] = ["of-book", "of-yours"].map((name) => row.querySelector(`.evidence-${name}`));
      book_line.textContent = of_book && of_book.evidence ? `Published settings: ${of_book.evidence}` : "";
      own_line.textContent = of_mine && of_mine.evidence ? `Your settings: ${of_mine.evidence}` : "";
    }
    for (const part of document.querySelectorAll("#claims > details")) {
      const changed = part.querySelectorAll("tr.differs").length;
      part.querySelector(".changes").textContent = changed ? `(${changed} with another verdict)` : "";
    }
  };

  const numbers = () => {
    const differs = mine && mine.differs.length;
    const [own, of_book] = [new Map(differs ? mine.numbers : []), new Map(published ? published.numbers : [])];
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

  // --- user input ----------------------------------------------------------------------------
  for (const parameter of parameters) {
    for (const input of parameter.inputs) {
      input.addEventListener("input", () => {
        if (input === slider(parameter)) {
          field(parameter).value = slider_values(parameter)[Number(input.value)];
          input.setAttribute("aria-valuetext", field(parameter).value);
        } else place_slider(parameter);
        schedule_run(input.type === "text" || input.localName === "textarea" ? 3 * DELAY_MS : DELAY_MS);
      });
    }
    parameter.back.addEventListener("click", () => {
      write(parameter, parameter.published);
      field(parameter).focus();
      schedule_run(0);
    });
  }
  $("parameters").addEventListener("submit", (event) => event.preventDefault());
  $("reset").addEventListener("click", () => {
    for (const parameter of parameters) write(parameter, parameter.published);
    schedule_run(0);
  });
  $("cancel").addEventListener("click", () => post("/cancel", { tab }).catch(() => {}));
  $("save").addEventListener("click", async () => {
    $("save").disabled = true;
    $("saved").textContent = "recording ...";
    const values = changed_values();
    let line;
    try {
      const answer = await post("/save", { tab, result: name, values });
      if (answer.id) {
        line = `${answer.failed ? "failed" : "recorded"}: run ${answer.id}`;
        if (!answer.computed) line += " (already recorded)";
        if (answer.failed) line += `: ${answer.failed}`;
        line = [line, ...answer.messages].join("; ");
      } else line = answer.stopped || answer.problems.join("; ");
    } catch (error) {
      line = unreachable(error);
    }
    $("saved").textContent = line;
    $("save").disabled = false;
  });
  $("views").addEventListener("input", () => { draw(); update_address(); });
  $("figures").addEventListener("input", (event) => { chosen = event.target.value; draw(); update_address(); });

  const query = new URLSearchParams(location.search);
  const view = document.querySelector(`#views input[value="${CSS.escape(query.get("view") || "yours")}"]`);
  if (view) view.checked = true;
  chosen = query.get("figure") || "";
  const address = new URL(location.href);
  address.searchParams.delete("token"); // the cookie carries it from now on
  history.replaceState(null, "", address);
  for (const parameter of parameters) place_slider(parameter);
  mark_changed();
  run();
  if (Object.keys(changed_values()).length) request_published();
})();
