"use strict";
const tools = summary => {
  const body = summary.tBodies[0];
  const rows = [...body.rows];
  const filter = document.getElementById("filter");
  const ticks = [...document.querySelectorAll("input[data-verdict]")];

  const show = () => {
    const wanted = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(ticks.filter(t => t.checked).map(t => t.dataset.verdict));
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(verdicts.has(row.dataset.verdict) && wanted.every(w => text.includes(w)));
      shown += !row.hidden;
    }
    document.getElementById("none").hidden = shown > 0;
    document.getElementById("shown").textContent = `${shown} of ${rows.length} rows shown`;
  };
  filter.addEventListener("input", show);
  ticks.forEach(t => t.addEventListener("change", show));

  summary.querySelectorAll("thead th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      summary.querySelectorAll("thead th").forEach(h => h.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = row => {
        const cell = row.cells[column];
        return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
      };
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        return (typeof x === "number" ? x - y : x.localeCompare(y)) * (up ? 1 : -1);
      };
      rows.slice().sort(order).forEach(row => body.append(row));
    });
  });
};

(() => {
  const summary = document.getElementById("summary");
  if (summary) tools(summary);

  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colour = dark
    ? {ink: "#9da7b3", grid: "#30363d", mean: "#58a6ff", band: "#58a6ff33", bound: "#ff7b72", fit: "#79c0ff", reference: "#8b949e", methods: ["#58a6ff", "#f0883e", "#3fb950", "#ff7b72", "#bc8cff", "#76e3ea", "#e3b341", "#ff9bce"]}
    : {ink: "#57606a", grid: "#d0d7de", mean: "#1f6feb", band: "#1f6feb22", bound: "#cf222e", fit: "#0550ae", reference: "#6e7781", methods: ["#1f6feb", "#bc4c00", "#1a7f37", "#cf222e", "#8250df", "#1b7c83", "#7d4e00", "#bf3989"]};
  const onto = (x, from, values) => {
    const at = new Map(from.map((v, i) => [v, values[i]]));
    return x.map(v => at.has(v) ? at.get(v) : null);
  };
  const format = value => value == null ? "–" : String(Number(value.toPrecision(4)));

  const methods = new Map();  // a method has one colour on all plots of the page
  document.querySelectorAll("script[data-plot]").forEach(script => {
    for (const curve of JSON.parse(script.textContent).curves || [])
      if (!methods.has(curve.label)) methods.set(curve.label, methods.size);
  });

  const draw = place => {
    const data = JSON.parse(document.querySelector(`script[data-plot="${place.id}"]`).textContent);
    const usable = v => data.log.includes("y") ? v.map(y => y > 0 ? y : null) : v;
    const s = data.series || data.curves[0];
    const xs = data.curves ? [...new Set(data.curves.flatMap(c => c.x))].sort((a, b) => a - b) : s.x;
    const columns = [xs], series = [{label: data.x, value: (u, v) => format(v)}], bands = [];
    const add = (key, options) => {
      if (!s[key]) return;
      columns.push(usable(s[key]));
      series.push({value: (u, v) => format(v), points: {show: s.x.length < 12}, ...options});
    };
    if (data.curves) {
      data.curves.forEach(curve => {
        const stroke = colour.methods[methods.get(curve.label) % colour.methods.length], first = columns.length;
        for (const key of ["high", "low", "mean"]) {
          columns.push(onto(xs, curve.x, usable(curve[key])));
          series.push({label: key === "mean" ? curve.label : `${curve.label}, ${key}`,
            stroke: key === "mean" ? stroke : stroke + "44", width: key === "mean" ? 2 : .5,
            value: (u, v) => format(v), points: {show: key === "mean" && curve.x.length < 5}, spanGaps: true, class: key === "mean" ? "loud" : "quiet"});
        }
        bands.push({series: [first, first + 1], fill: stroke + "22"});
      });
    } else {
      if (s.low) {
        add("high", {label: data.labels.band + ", high", stroke: colour.band, width: 1, points: {show: false}});
        add("low", {label: "low", stroke: colour.band, width: 1, points: {show: false}});
        bands.push({series: [1, 2], fill: colour.band});
      }
      add("mean", {label: data.labels.mean, stroke: colour.mean, width: 2});
      add("bound", {label: data.labels.bound, stroke: colour.bound, width: 2});
      add("fit", {label: data.labels.fit, stroke: colour.fit, width: 1, dash: [6, 4], points: {show: false}});
      add("reference", {label: data.labels.reference, stroke: colour.reference, width: 1, dash: [2, 3], points: {show: false}});
    }
    // over many decades, lines at powers of ten only
    const whole = v => v != null && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
    const filter = (u, splits, at) => {
      const wide = at && data.log.includes("y") && splits.filter(whole).length > 5;
      return wide ? splits.map(v => whole(v) ? v : null) : splits;
    };
    const axis = {stroke: colour.ink, grid: {stroke: colour.grid, width: 1, filter}, ticks: {stroke: colour.grid, filter}};
    const size = () => ({width: place.clientWidth, height: Math.min(340, Math.max(260, place.clientWidth * .5))});
    // numbers that agree to rounding would ask for more ticks than an array holds
    const range = (u, low, high) => {
      const most = Math.max(Math.abs(low), Math.abs(high));
      if (high - low > 1e-6 * most) return uPlot.rangeNum(low, high, .1, true);
      return [low - (most / 2 || 1), high + (most / 2 || 1)];
    };
    const scale = axis => data.log.includes(axis) ? {distr: 3} : axis === "y" ? {range} : {};
    const ticks = (u, splits) => splits.map(v => v == null ? "" : format(v));
    const counted = xs.length < 12 && xs.every(Number.isInteger) ? {incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5]} : {};
    const plot = new uPlot({
      ...size(), bands, series,
      scales: {x: {time: false, ...scale("x")}, y: scale("y")},
      axes: [{...axis, ...counted, label: data.x, values: ticks}, {...axis, label: data.y, size: 70, values: ticks}],
      legend: {live: false},
      cursor: {drag: {x: true, y: true}},
    }, columns, place);
    addEventListener("resize", () => plot.setSize(size()));
    place.dataset.drawn = "yes";
  };
  const places = [...document.querySelectorAll(".plot")];
  const watch = new IntersectionObserver(entries => entries.forEach(entry => {
    if (!entry.isIntersecting) return;
    watch.unobserve(entry.target);
    draw(entry.target);
  }), {rootMargin: "200px"});
  places.forEach(place => watch.observe(place));
  // paper has no folds: open them for printing, and close those again
  let folded = [];
  addEventListener("beforeprint", () => {
    places.filter(p => !p.dataset.drawn).forEach(draw);
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach(d => { d.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach(d => { d.open = false; }));
})();
