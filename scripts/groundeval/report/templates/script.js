// The theme switch of every page, and the table of samples where a page has its data. All text is set as text.
"use strict";
(() => {
  const KEY = "groundeval-theme", THEMES = ["auto", "light", "dark"], PAGE = 100;
  const root = document.documentElement, byId = (id) => document.getElementById(id);

  const kept = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem(KEY, theme); } catch { /* a browser may forbid it */ } };
  let theme = THEMES.includes(kept()) ? kept() : "auto";
  root.dataset.theme = theme; // before anything is drawn

  document.addEventListener("DOMContentLoaded", () => {
    const button = byId("theme");
    const say = () => { button.textContent = `Theme: ${theme}`; };
    button.hidden = false;
    say();
    button.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      root.dataset.theme = theme;
      keep(theme);
      say();
    });
    if (byId("data")) table(JSON.parse(byId("data").textContent));
  });

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  // A column is written as its values, or as each distinct value once and where it stands.
  const decoded = (column) => (column.at ? column.at.map((place) => column.values[place]) : column.values);
  const shown = (number) => (number === null ? "n/a" : number.toFixed(4));
  const amount = (number) => number.toLocaleString("en");

  function table(data) {
    const count = data.ids.length;
    const columns = [{ name: "Sample", values: data.ids }];
    for (const column of data.columns) columns.push({ name: column.name, values: decoded(column) });
    const models = data.models.map((model) => ({
      ...model,
      status: decoded(model.status),
      counted: decoded(model.counted),
      figures: Object.entries(model.figures).map(([name, column]) => [name, decoded(column)]),
    }));
    for (const model of models) columns.push({ name: model.name, values: model.figures[0][1], model });
    if (models.length > 1) columns.push({ name: "Spread", values: spread(models), number: true });

    const text = data.ids.map((_, row) =>
      columns.filter((c) => !c.model && !c.number).map((c) => c.values[row] ?? "").join("\n").toLowerCase());
    const state = { sort: 0, down: false, page: 0, open: new Set() };
    let order = [];
    const controls = filters();
    byId("samples").hidden = false;
    change();
    visit();
    window.addEventListener("hashchange", visit);

    function spread(of) {
      return data.ids.map((_, row) => {
        const known = of.map((model) => model.figures[0][1][row]).filter((value) => value !== null);
        return known.length > 1 ? Math.max(...known) - Math.min(...known) : null;
      });
    }

    function filters() {
      const found = {};
      const add = (name, label, control) => {
        found[name] = control;
        control.id = `filter-${name}`;
        byId("filters").append(make("label", { for: control.id }, label, control));
        control.addEventListener(control.tagName === "SELECT" ? "change" : "input", () => { state.page = 0; change(); });
      };
      const choice = (options) => make("select", {}, ...options.map(([value, label]) => make("option", { value }, label)));
      const distinct = (values) => [...new Set(values)].filter((value) => value !== null).sort();
      add("text", "Text", make("input", { type: "search", autocomplete: "off", spellcheck: "false" }));
      const kind = columns.find((column) => column.name === "Kind" && !column.model);
      if (kind) add("kind", "Kind", choice([["", "all"], ...distinct(kind.values).map((value) => [value, value])]));
      const names = models.map((model, place) => [String(place), model.name]);
      add("model", "Of model", choice(models.length > 1 ? [["", "any"], ...names] : names));
      const statuses = distinct(models.flatMap((model) => [...new Set(model.status)]));
      add("status", "Status", choice([["", "all"], ...statuses.map((value) => [value, value])]));
      add("most", `${data.figure} at most`, make("input", { type: "number", min: "0", max: "1", step: "any" }));
      return found;
    }

    function change() {
      const value = (name) => (controls[name] ? controls[name].value : "");
      const words = value("text").toLowerCase().split(/\s+/).filter(Boolean);
      const kind = value("kind"), status = value("status"), most = value("most") === "" ? null : Number(value("most"));
      const kinds = columns.find((column) => column.name === "Kind" && !column.model);
      const of = value("model") === "" ? models : [models[Number(value("model"))]];
      const fits = (model, row) => (status === "" || model.status[row] === status)
        && (most === null || (model.figures[0][1][row] !== null && model.figures[0][1][row] <= most));
      order = [];
      for (let row = 0; row < count; row += 1) {
        if (kind !== "" && kinds.values[row] !== kind) continue;
        if (!words.every((word) => text[row].includes(word))) continue;
        if ((status !== "" || most !== null) && !of.some((model) => fits(model, row))) continue;
        order.push(row);
      }
      sort();
      draw();
    }

    function sort() {
      const { values } = columns[state.sort], sign = state.down ? -1 : 1;
      order.sort((a, b) => {
        const x = values[a], y = values[b];
        if (x === y) return a - b;
        if (x === null || x === undefined) return 1; // what is not known stands last, whichever way
        if (y === null || y === undefined) return -1;
        return x < y ? -sign : sign;
      });
    }

    function draw() {
      const pages = Math.max(1, Math.ceil(order.length / PAGE));
      state.page = Math.min(state.page, pages - 1);
      const start = state.page * PAGE, rows = order.slice(start, start + PAGE);
      byId("rows").tHead.replaceChildren(make("tr", {}, ...columns.map(head)));
      byId("rows").tBodies[0].replaceChildren(...rows.flatMap(line));
      const range = rows.length ? `${amount(start + 1)} to ${amount(start + rows.length)} of ` : "";
      byId("shown").textContent = `${range}${amount(order.length)} samples`
        + (order.length < count ? `, filtered from ${amount(count)}` : "");
      const turn = (label, page) => {
        const button = make("button", { type: "button", disabled: page < 0 || page >= pages }, label);
        button.addEventListener("click", () => { state.page = page; draw(); byId("shown").scrollIntoView(); });
        return button;
      };
      byId("turn").replaceChildren(turn("Previous", state.page - 1),
        make("span", {}, `Part ${amount(state.page + 1)} of ${amount(pages)}`), turn("Next", state.page + 1));
    }

    function head(column, place) {
      const sorted = state.sort === place, number = column.model || column.number;
      const button = make("button", { type: "button", "data-place": place }, column.name);
      button.addEventListener("click", () => {
        state.down = sorted ? !state.down : false;
        state.sort = place;
        state.page = 0;
        sort();
        draw();
        byId("rows").querySelector(`[data-place="${place}"]`).focus();
      });
      const direction = state.down ? "descending" : "ascending";
      return make("th", { scope: "col", class: number ? "n" : null, "aria-sort": sorted ? direction : "none" }, button);
    }

    function line(row) {
      const id = data.ids[row], open = state.open.has(row);
      const button = make("button", { type: "button", "aria-expanded": String(open), "data-row": row }, make("bdi", {}, id));
      button.addEventListener("click", () => {
        if (!state.open.delete(row)) state.open.add(row);
        draw();
        byId("rows").querySelector(`[data-row="${row}"]`).focus();
      });
      const cells = columns.slice(1).map((column) => cell(column, row));
      const found = [make("tr", {}, make("th", { scope: "row" }, button), ...cells)];
      if (open) found.push(make("tr", { class: "more" }, make("td", { colspan: columns.length }, more(row))));
      return found;
    }

    function cell(column, row) {
      const value = column.values[row];
      if (!column.model && !column.number) return make("td", { class: ["Instruction", "Tags"].includes(column.name) ? "words long" : "words" }, make("bdi", {}, value ?? ""));
      const status = column.model ? column.model.status[row] : "answered";
      const said = status === "answered" ? "" : make("small", {}, ` ${status}`);
      return make("td", { class: "n" }, shown(value ?? null), said);
    }

    function more(row) {
      const parts = models.map((model) => {
        const counts = model.counts.map((name, place) => `${name} ${amount(model.counted[row][place])}`);
        const figures = model.figures.map(([name, values]) => `${name} ${shown(values[row])}`);
        const said = [model.status[row], ...figures, ...counts].join(", ");
        const command = `groundeval trace ${model.folder} --metric ${data.metric} --sample ${quoted(data.ids[row])}`;
        return [make("dt", {}, make("bdi", {}, model.name)),
          make("dd", {}, said, make("br"), make("code", {}, command))];
      });
      const link = make("a", { href: `#sample=${encodeURIComponent(data.ids[row])}` }, "Link to this sample");
      return make("div", {}, make("dl", { class: "wide" }, ...parts.flat()), link);
    }

    // As a POSIX shell takes it.
    function quoted(id) {
      return /^[\w@%+=:,./-]+$/.test(id) ? id : `'${id.replaceAll("'", "'\"'\"'")}'`;
    }

    // The address may name a sample: it is shown whatever the filters were.
    function visit() {
      const said = /^#sample=(.*)$/.exec(location.hash);
      if (!said) return;
      let id = said[1];
      try { id = decodeURIComponent(id); } catch { /* taken as it stands */ }
      const row = data.ids.indexOf(id);
      if (row < 0) { byId("shown").textContent = `No sample "${id}" in this table.`; return; }
      for (const control of Object.values(controls)) control.value = control.tagName === "SELECT" ? control.options[0].value : "";
      state.open.add(row);
      change();
      state.page = Math.floor(order.indexOf(row) / PAGE);
      draw();
      const button = byId("rows").querySelector(`[data-row="${row}"]`);
      button.scrollIntoView({ block: "center" });
      button.focus();
    }
  }
})();
