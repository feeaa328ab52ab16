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
    // a claim is shown if one of its forms is, and a paper if one of its claims is
    const left = new Set(rows.filter(row => !row.hidden).map(row => row.cells[0].firstElementChild.hash));
    const articles = [...document.querySelectorAll("article")];
    for (const article of articles) article.hidden = !left.has(`#${encodeURI(article.id)}`) && !left.has(`#${article.id}`);
    for (const paper of document.querySelectorAll(".paper"))
      paper.hidden = ![...paper.querySelectorAll("article")].some(article => !article.hidden);
    document.getElementById("none").hidden = shown > 0;
    document.getElementById("shown").textContent =
      `${articles.filter(a => !a.hidden).length} of ${articles.length} claims, ${shown} of ${rows.length} forms shown`;
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

const folds = () => {
  const claims = [...document.querySelectorAll("details.claim")];
  // a link to a claim opens it, and the folds around what it leads to
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const claim = target.querySelector(":scope > details.claim");
    if (claim) claim.open = true;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.hidden = false;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", event => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) reveal();  // the same link again changes no hash
  });
  reveal();
  const button = document.getElementById("unfold");
  if (button) button.addEventListener("click", () => {
    const open = claims.some(claim => !claim.open);
    claims.forEach(claim => { claim.open = open; });
    button.textContent = open ? "Close all" : "Open all";
  });
  document.querySelectorAll("button.copy").forEach(copy => copy.addEventListener("click", async () => {
    // the command is before the button, a table or an entry after it
    const near = copy.nextElementSibling && copy.nextElementSibling.tagName === "PRE"
      ? copy.nextElementSibling : copy.previousElementSibling;
    try {
      await navigator.clipboard.writeText(near.textContent);
      copy.textContent = "copied";
    } catch {  // no leave to write: it is selected, for Ctrl+C
      getSelection().selectAllChildren(near);
      copy.textContent = "selected";
    }
    setTimeout(() => { copy.textContent = "copy"; }, 1500);
  }));
};

// one entry for each curve or band, drawn as the plot draws it; a click hides it
const keys = (plot, legend) => {
  const list = document.createElement("ul");
  list.className = "curves";
  for (const {text, style, members} of legend) {
    const svg = style.fill
      ? `<rect x="1" y="2" width="26" height="10" fill="${style.fill}" stroke="${style.stroke}" stroke-width=".5"/>`
      : `<path d="M1 7H27" stroke="${style.stroke}" stroke-width="${style.width}" stroke-dasharray="${style.dash || ""}"/>`;
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.innerHTML = `<svg width="28" height="14" aria-hidden="true">${svg}</svg>`;
    button.append(text);
    button.addEventListener("click", () => {
      const show = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", show);
      members.forEach(k => plot.setSeries(k, {show}));
    });
    item.append(button);
    list.append(item);
  }
  return list;
};

(() => {
  const summary = document.getElementById("summary");
  if (summary) tools(summary);
  folds();

  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colour = dark
    ? {ink: "#9da7b3", grid: "#30363d", mean: "#58a6ff", band: "#58a6ff33", bound: "#ff7b72", fit: "#3fb950", reference: "#c9d1d9", methods: ["#58a6ff", "#f0883e", "#3fb950", "#ff7b72", "#bc8cff", "#76e3ea", "#e3b341", "#ff9bce"]}
    : {ink: "#57606a", grid: "#d0d7de", mean: "#1f6feb", band: "#1f6feb22", bound: "#cf222e", fit: "#1a7f37", reference: "#424a53", methods: ["#1f6feb", "#bc4c00", "#1a7f37", "#cf222e", "#8250df", "#1b7c83", "#7d4e00", "#bf3989"]};
  const onto = (x, from, values) => {
    const at = new Map(from.map((v, i) => [v, values[i]]));
    return x.map(v => at.has(v) ? at.get(v) : null);
  };
  const format = value => {
    if (value == null) return "–";
    const short = Number(value.toPrecision(4));
    return short && Math.abs(short) < 1e-3 ? short.toExponential() : String(short);
  };

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
    const columns = [xs], series = [{label: data.x}], bands = [];
    const add = (key, options) => {
      if (!s[key]) return;
      columns.push(usable(s[key]));
      series.push({points: {show: s.x.length < 12}, ...options});
    };
    const legend = [];  // what each entry shows, and which series it stands for
    const entry = (text, style, members) => legend.push({text, style, members});
    if (data.curves) {
      data.curves.forEach(curve => {
        const place = methods.get(curve.label), stroke = colour.methods[place % colour.methods.length], first = columns.length;
        const dash = [[], [8, 4], [2, 3], [8, 3, 2, 3]][place % 4];  // curves that lie upon each other are told apart
        for (const key of ["high", "low", "mean"]) {
          columns.push(onto(xs, curve.x, usable(curve[key])));
          series.push({label: curve.label, stroke: key === "mean" ? stroke : stroke + "44", width: key === "mean" ? 2 : .5, dash: key === "mean" ? dash : [],
            points: {show: key === "mean" && curve.x.length < 5}, spanGaps: true});
        }
        bands.push({series: [first, first + 1], fill: stroke + "22"});
        entry(curve.label + (curve.told || ""), {stroke, width: 2, dash}, [first, first + 1, first + 2]);
      });
    } else {
      if (s.low) {
        add("high", {stroke: colour.band, width: 1, points: {show: false}});
        add("low", {stroke: colour.band, width: 1, points: {show: false}});
        bands.push({series: [1, 2], fill: colour.band});
        entry(data.labels.band, {fill: colour.band, stroke: colour.mean}, [1, 2]);
      }
      const line = (key, options) => {
        if (!s[key]) return;
        entry(data.labels[key], options, [columns.length]);
        add(key, options);
      };
      // wide and below, so that it is seen where the measured line runs along it
      line("bound", {stroke: colour.bound, width: 5});
      line("mean", {stroke: colour.mean, width: 2});
      line("fit", {stroke: colour.fit, width: 2, dash: [8, 5], points: {show: false}});
      line("reference", {stroke: colour.reference, width: 2, dash: [2, 4], points: {show: false}});
    }
    // over many decades, lines at powers of ten only
    const whole = v => v != null && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;
    const filter = (u, splits, at) => {
      const wide = at && data.log.includes("y") && splits.filter(whole).length > 5;
      return wide ? splits.map(v => whole(v) ? v : null) : splits;
    };
    const axis = {stroke: colour.ink, grid: {stroke: colour.grid, width: 1, filter}, ticks: {stroke: colour.grid, filter}};
    const tall = data.least ? 200 : 340;  // what stands below another plot is lower
    const size = () => ({width: place.clientWidth, height: Math.min(tall, Math.max(260, place.clientWidth * .5))});
    // numbers that agree to rounding would ask for more ticks than an array holds; and where flat has
    // to look flat, a range is at least that share of them up and down
    const range = (u, low, high) => {
      const most = Math.max(Math.abs(low), Math.abs(high)), spare = (data.least || 0) * most - (high - low) / 2;
      if (spare > 0) return [low - spare, high + spare];
      if (high - low > 1e-6 * most) return uPlot.rangeNum(low, high, .1, true);
      return [low - (most / 2 || 1), high + (most / 2 || 1)];
    };
    const scale = axis => data.log.includes(axis) ? {distr: 3} : axis === "y" ? {range} : {};
    const ticks = (u, splits) => splits.map(v => v == null ? "" : format(v));
    const counted = xs.every(Number.isInteger) ? {incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6]} : {};
    // beside a low plot a long label is cut off: it stands above
    const above = place.clientWidth < 480;
    if (above) place.append(Object.assign(document.createElement("div"), {className: "upward", textContent: `↑ ${data.y}`}));
    const plot = new uPlot({
      ...size(), bands, series,
      scales: {x: {time: false, ...scale("x")}, y: scale("y")},
      axes: [{...axis, ...counted, label: data.x, values: ticks}, {...axis, ...(above ? {} : {label: data.y}), size: 70, values: ticks}],
      legend: {show: false},
      cursor: {drag: {x: true, y: true}},
    }, columns, place);
    place.uplot = plot;
    place.append(keys(plot, legend));
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
  // on paper: the summary, and what is refuted in full; a formula that is too wide is made smaller
  // with the assumptions and the instance that a refutation stands on
  let unfolded = [], shrunk = [];
  addEventListener("beforeprint", () => {
    const refuted = "article[data-verdict=REFUTED] details";
    unfolded = [...document.querySelectorAll(`${refuted}.claim:not([open]), ${refuted}.evidence:not([open])`)];
    unfolded.forEach(claim => { claim.open = true; });
    places.filter(p => !p.dataset.drawn && p.checkVisibility()).forEach(draw);
    shrunk = [...document.querySelectorAll(".math")].filter(m => m.clientWidth && m.scrollWidth > m.clientWidth);
    shrunk.forEach(m => { m.style.fontSize = `${parseFloat(getComputedStyle(m).fontSize) * .98 * m.clientWidth / m.scrollWidth}px`; });
  });
  addEventListener("afterprint", () => {
    unfolded.forEach(claim => { claim.open = false; });
    shrunk.forEach(m => { m.style.fontSize = ""; });
  });
})();
