// Draws the charts of the report from the JSON block "data", and redraws them when a filter, the colour scheme or the
// width changes. One small chart a combination of data set, codec, case and threads ("a panel").
//
// Names and messages in the data are hostile. They go into the page by textContent or as data of a chart, never as
// HTML, as an expression or as a field's name.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const kBlock = ["set", "codec", "case", "threads"];
  const kMiB = 2 ** 20;

  // Shapes lie in the square from -1 to 1; ours is the only disc. The legend draws the same paths.
  const kDisc = "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z";
  const kShapes = [
    "M-.85,-.85L.85,-.85L.85,.85L-.85,.85Z", // square
    "M0,-1.1L1,.75L-1,.75Z", // triangle, up
    "M0,-1.15L1.15,0L0,1.15L-1.15,0Z", // diamond
    "M-.35,-1L.35,-1L.35,-.35L1,-.35L1,.35L.35,.35L.35,1L-.35,1L-.35,.35L-1,.35L-1,-.35L-.35,-.35Z", // plus
    "M0,1.1L1,-.75L-1,-.75Z", // triangle, down
    "M-1,-1L1,1L1,-1L-1,1Z", // bow tie
    "M-1.05,0L-.5,-.95L.5,-.95L1.05,0L.5,.95L-.5,.95Z", // hexagon
    "M-1,-1L-1,1L1,-1L1,1Z", // hour glass, lying
  ];
  const kFloor = "M-1.1,-.3L1.1,-.3L1.1,.3L-1.1,.3Z"; // a bar
  const kPeerColours = 7;

  const engines = [...new Set([...data.rows, ...data.sizes].map((row) => row.engine))];
  const floors = new Set([...data.rows, ...data.sizes].filter((row) => row.floor).map((row) => row.engine));
  const peers = engines.filter((engine) => engine !== data.ours && !floors.has(engine)).sort();

  const style = (engine, theme) =>
    engine === data.ours ? { shape: kDisc, colour: theme.ours }
    : floors.has(engine) ? { shape: kFloor, colour: theme.floor }
    : { shape: kShapes[peers.indexOf(engine) % kShapes.length], colour: theme.peers[peers.indexOf(engine) % kPeerColours] };

  function current_theme() {
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(`--${name}`).trim();
    return {
      ours: colour("ours"), floor: colour("floor"), ink: colour("ink"), soft: colour("soft"), line: colour("line"), grid: colour("grid"),
      panel: colour("panel"), peers: Array.from({ length: kPeerColours }, (_, i) => colour(`peer-${i}`)),
      font: getComputedStyle(document.body).fontFamily,
    };
  }

  // ---- figures

  const three_digits = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
  const figure = (value) => three_digits.format(value);
  const name_of = (row) => `${row.engine} ${row.configuration}`;
  const range = (spread, scale, unit) =>
    `${figure(spread.median * scale)} ${unit} [${figure(spread.min * scale)}–${figure(spread.max * scale)}]`;

  // ---- charts: each takes the measured rows of one panel and returns what to draw of them, or null if there is nothing

  function base(theme, height, description) {
    const text = { labelFont: theme.font, titleFont: theme.font, labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal" };
    return {
      $schema: "https://vega.github.io/schema/vega/v6.json", // a name; nothing is fetched
      description, height, padding: 2, autosize: { type: "fit-x", contains: "padding" },
      config: {
        axis: { ...text, labelColor: theme.soft, titleColor: theme.soft, gridColor: theme.grid, domain: false, ticks: false, labelPadding: 5 },
        text: { font: theme.font, fontSize: 11, fill: theme.ink },
      },
    };
  }

  // What every symbol carries: its look, its accessible name and the lines of its tip.
  function symbol(row, theme, what) {
    const { shape, colour } = style(row.engine, theme);
    return { name: name_of(row), shape, colour, ours: row.engine === data.ours, what };
  }

  const symbol_encoding = (theme, ours_size, size) => ({
    shape: { field: "shape" }, fill: { field: "colour" }, stroke: { value: theme.panel }, strokeWidth: { value: 1 },
    size: { signal: `datum.ours ? ${ours_size} : ${size}` }, zindex: { signal: "datum.ours ? 1 : 0" },
    description: { signal: "datum.name + ': ' + datum.what" }, tooltip: { signal: "datum.name + '\\n' + datum.what" },
  });

  const doublings = (low, high) => {
    const values = [];
    for (let v = 2 ** Math.floor(Math.log2(low)); v < high * 2; v *= 2) values.push(v);
    return values;
  };

  // 1, 2, 5, 10, ... within a logarithmic axis, or with more steps a decade where it spans less than a decade.
  function round_ticks(low, high) {
    const steps = high / low > 12 ? [1, 2, 5] : high / low > 2.5 ? [1, 1.5, 2, 3, 5, 7] : [1, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
    const values = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) values.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(3))));
    return values.filter((v) => v >= low && v <= high);
  }

  // Marks placed on a logarithmic memory axis that all panels share; the floors are lines, being limits.
  function memory_chart(rows, theme, context) {
    const with_memory = (row) => !row.floor && row[context.memory] > 0 && row.rate > 0;
    const values = rows.filter(with_memory).map((row) => {
      const memory = row[context.memory] / kMiB, rate = row.rate / 1e6;
      return {
        ...symbol(row, theme, `${figure(rate)} M rows/s, ${figure(memory)} MiB`), memory, rate,
        label: row.engine === data.ours ? row.configuration : row.engine,
      };
    });
    if (!values.length) return null;
    // Labels are placed in this order while there is room: ours first, then the fastest of each peer.
    values.sort((a, b) => b.ours - a.ours || b.rate - a.rate);
    const seen = new Set();
    for (const value of values) {
      if (!value.ours && seen.has(value.label)) value.label = "";
      seen.add(value.label);
    }
    const limits = rows.filter((row) => row.floor && row.rate > 0).sort((a, b) => b.rate - a.rate)
      .map((row, i) => ({ name: row.engine, rate: row.rate / 1e6, above: i === 0, what: `${figure(row.rate / 1e6)} M rows/s` }));
    const memories = context.rows.filter(with_memory).map((row) => row[context.memory] / kMiB);
    const ticks = doublings(Math.min(...memories), Math.max(...memories));
    return {
      ...base(theme, context.alone ? 420 : 290, `Throughput against ${context.memory_name} of ${values.length} configurations`),
      data: [{ name: "values", values }, { name: "limits", values: limits }],
      scales: [
        { name: "x", type: "log", base: 2, domain: [ticks[0], ticks[ticks.length - 1]], range: "width" },
        { name: "y", type: "linear", zero: true, nice: true, range: "height",
          domain: [0, 1.05 * Math.max(...values.map((v) => v.rate), ...limits.map((v) => v.rate))] },
      ],
      axes: [
        { orient: "bottom", scale: "x", grid: true, values: ticks, format: ",~r", title: `${context.memory_name} (MiB, logarithmic)`, labelOverlap: true },
        { orient: "left", scale: "y", grid: true, tickCount: 5, title: "throughput (M rows/s)" },
      ],
      marks: [
        { type: "rule", name: "floors", from: { data: "limits" }, encode: { enter: {
          x: { value: 0 }, y: { scale: "y", field: "rate" }, stroke: { value: theme.floor }, strokeDash: { value: [5, 4] }, strokeWidth: { value: 1.25 },
          description: { signal: "datum.name + ': ' + datum.what" }, tooltip: { signal: "datum.name + '\\n' + datum.what" } },
          update: { x2: { signal: "width" } } } },
        { type: "text", name: "floor_names", from: { data: "limits" }, encode: { update: {
          x: { signal: "datum.above ? width : 0" }, align: { signal: "datum.above ? 'right' : 'left'" }, y: { scale: "y", field: "rate" },
          dy: { signal: "datum.above ? -4 : 4" }, baseline: { signal: "datum.above ? 'bottom' : 'top'" },
          text: { field: "name" }, fill: { value: theme.floor } } } },
        { type: "symbol", name: "points", from: { data: "values" }, encode: {
          enter: symbol_encoding(theme, 110, 75), update: { x: { scale: "x", field: "memory" }, y: { scale: "y", field: "rate" } } } },
        { type: "text", name: "labels", from: { data: "points" }, interactive: false, encode: { enter: {
          text: { signal: "datum.datum.label" }, fill: { signal: "datum.datum.colour" },
          fontWeight: { signal: "datum.datum.ours ? 'bold' : 'normal'" }, aria: { value: false } } },
          transform: [{ type: "label", size: { signal: "[width, height]" }, offset: [3],
            avoidMarks: limits.length ? ["floors", "floor_names"] : [], // Vega stumbles over a mark without items
            anchor: ["right", "left", "top", "bottom", "top-right", "top-left", "bottom-right", "bottom-left"] }] },
      ],
    };
  }

  // Rows of names with marks on a logarithmic axis: the form of the ratio and the latency charts. Each of `values` has
  // a name, min, median, max and maybe rounds. `all` are the spreads of all panels, which share one axis.
  function strip_chart(values, theme, context, { description, title, all, scale = 1, one, dots }) {
    if (!values.length) return null;
    const low = Math.min(...all.map((v) => v.min * scale), one ? 1 : Infinity) / 1.06, high = Math.max(...all.map((v) => v.max * scale), one ? 1 : 0) * 1.06;
    const rounds = values.flatMap((v) => (v.rounds || []).map((ratio, i) => ({ ...v, ratio, what: `round ${i + 1}: ${figure(ratio)}` })));
    const row = { scale: "y", field: "name", band: 0.5 };
    const medians = dots
      ? { type: "rule", name: "medians", from: { data: "values" }, encode: { enter: {
          stroke: { field: "colour" }, strokeWidth: { value: 3 }, strokeCap: { value: "butt" },
          description: { signal: "datum.name + ': ' + datum.what" }, tooltip: { signal: "datum.name + '\\n' + datum.what" } },
          update: { x: { scale: "x", field: "median" }, y: { scale: "y", field: "name", band: 0.05 }, y2: { scale: "y", field: "name", band: 0.95 } } } }
      : { type: "symbol", name: "medians", from: { data: "values" }, encode: {
          enter: symbol_encoding(theme, 75, 60), update: { x: { scale: "x", field: "median" }, y: row } } };
    return {
      ...base(theme, 18 * values.length, description),
      data: [{ name: "values", values }, { name: "ratios", values: rounds }, { name: "line_of_one", values: one ? [{ at: 1 }] : [] }],
      signals: [{ name: "ours", value: values.filter((v) => v.ours).map((v) => v.name) }],
      scales: [
        { name: "x", type: "log", domain: [low, high], range: "width" },
        { name: "y", type: "band", domain: values.map((v) => v.name), range: "height" },
      ],
      axes: [
        { orient: "bottom", scale: "x", grid: true, values: round_ticks(low, high), format: ",~r", title, labelOverlap: true },
        { orient: "left", scale: "y", labelLimit: Math.min(230, 0.45 * context.width), encode: { labels: { update: {
          fill: { signal: `indexof(ours, datum.value) >= 0 ? '${theme.ours}' : '${theme.ink}'` },
          fontWeight: { signal: "indexof(ours, datum.value) >= 0 ? 'bold' : 'normal'" } } } } },
      ],
      marks: [
        { type: "rule", name: "guides", from: { data: "values" }, encode: { enter: { stroke: { value: theme.grid }, aria: { value: false } },
          update: { x: { value: 0 }, x2: { signal: "width" }, y: row } } },
        { type: "rule", name: "one", from: { data: "line_of_one" }, encode: { enter: { stroke: { value: theme.ink }, strokeWidth: { value: 1.25 }, description: { value: "the line of 1" } },
          update: { x: { scale: "x", field: "at" }, y: { value: 0 }, y2: { signal: "height" } } } },
        { type: "rule", name: "ranges", from: { data: "values" }, encode: { enter: { stroke: { field: "colour" }, strokeWidth: { value: 1.5 }, opacity: { value: 0.55 }, aria: { value: false } },
          update: { x: { scale: "x", field: "min" }, x2: { scale: "x", field: "max" }, y: row } } },
        ...(dots ? [{ type: "symbol", name: "rounds", from: { data: "ratios" }, encode: {
          enter: { ...symbol_encoding(theme, 42, 36), opacity: { value: 0.8 } }, update: { x: { scale: "x", field: "ratio" }, y: row } } }] : []),
        medians,
        { type: "text", name: "figures", from: { data: "values" }, encode: { enter: {
          text: { field: "label" }, fill: { field: "colour" }, fontWeight: { signal: "datum.ours ? 'bold' : 'normal'" }, baseline: { value: "middle" }, aria: { value: false } },
          update: { x: { signal: "width + 8" }, y: row } } },
      ],
    };
  }

  function ratio_chart(field, title, description, best_first) {
    const has_ratio = (row) => !row.floor && row[field];
    return (rows, theme, context) => {
      const values = rows.filter(has_ratio).map((row) => ({
        ...symbol(row, theme, `median ${range(row[field], 1, "")}`), ...row[field], label: row[field].median.toFixed(2),
      })).sort((a, b) => best_first * (a.median - b.median));
      return strip_chart(values, theme, context, {
        title, one: true, dots: true, all: context.rows.filter(has_ratio).map((row) => row[field]), description: `${description}, ${values.length} configurations`,
      });
    };
  }

  function first_chart(rows, theme, context) {
    const values = rows.filter((row) => row.first).map((row) => ({
      ...symbol(row, theme, range(row.first, 1e3, "ms")), min: row.first.min * 1e3, median: row.first.median * 1e3, max: row.first.max * 1e3,
      label: figure(row.first.median * 1e3),
    })).sort((a, b) => a.median - b.median);
    return strip_chart(values, theme, context, {
      title: "time to the first batch (ms, logarithmic)", scale: 1e3, all: context.rows.map((row) => row.first).filter(Boolean),
      description: `Time to the first batch of ${values.length} configurations`,
    });
  }

  function size_chart(rows, theme) {
    const values = rows.map((row) => ({
      ...symbol(row, theme, `${row.set}, ${figure(row.bytes / 1e6)} MB: ${range(row.seconds, 1, "s")}`),
      bytes: row.bytes / 1e6, seconds: row.seconds.median, line: `${row.engine}\n${row.series}`, label: row.engine === data.ours ? row.set : "",
    })).sort((a, b) => b.ours - a.ours || a.bytes - b.bytes);
    if (!values.length) return null;
    const span = (field, room) => [Math.min(...values.map((v) => v[field])) / room, Math.max(...values.map((v) => v[field])) * room];
    const sizes = span("bytes", 1.2), times = span("seconds", 1.15);
    const place = { x: { scale: "x", field: "bytes" }, y: { scale: "y", field: "seconds" } };
    return {
      ...base(theme, 320, `Time against size of ${values.length} data sets and engines`),
      data: [{ name: "values", values }],
      scales: [
        { name: "x", type: "log", domain: sizes, range: "width" },
        { name: "y", type: "log", domain: times, range: "height" },
      ],
      axes: [
        { orient: "bottom", scale: "x", grid: true, values: round_ticks(...sizes), format: ",~r", title: "size of the table as Arrow buffers (MB, logarithmic)", labelOverlap: true },
        { orient: "left", scale: "y", grid: true, values: round_ticks(...times), format: ",~r", title: "time (s, logarithmic)", labelOverlap: true },
      ],
      marks: [
        { type: "group", name: "lines", from: { facet: { name: "line", data: "values", groupby: "line" } }, marks: [
          { type: "line", from: { data: "line" }, encode: {
            enter: { stroke: { field: "colour" }, strokeWidth: { signal: "datum.ours ? 2.5 : 1" }, opacity: { signal: "datum.ours ? 1 : 0.6" }, aria: { value: false } }, update: place } }] },
        { type: "symbol", name: "points", from: { data: "values" }, encode: { enter: symbol_encoding(theme, 110, 60), update: place } },
        { type: "text", name: "labels", from: { data: "points" }, interactive: false, encode: { enter: {
          text: { signal: "datum.datum.label" }, fill: { value: theme.ours }, fontWeight: { value: "bold" }, aria: { value: false } } },
          transform: [{ type: "label", size: { signal: "[width, height]" }, offset: [4], anchor: ["bottom", "bottom-right", "bottom-left", "right", "left", "top"] }] },
      ],
    };
  }

  const kCharts = [
    { section: "memory", rows: data.rows, by: kBlock, draw: memory_chart },
    { section: "peer", rows: data.rows, by: kBlock, draw: ratio_chart("peer", "best peer's time / own time (logarithmic)", "Ratio to the best peer in each round", -1) },
    { section: "over", rows: data.rows, by: kBlock, draw: ratio_chart("over", "own time / floor's time (logarithmic)", "Ratio to the floor in each round", 1) },
    { section: "first", rows: data.rows, by: kBlock, draw: first_chart },
    { section: "size", rows: data.sizes, by: ["codec", "case", "threads"], draw: size_chart },
  ];

  // ---- the page

  const chosen = (name) => form.elements[name].value;
  const is_chosen = (row) => kBlock.every((name) => chosen(name) === "*" || row[name] === undefined || row[name] === chosen(name));

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function draw_legend(theme) {
    const ns = "http://www.w3.org/2000/svg";
    const drawn = [data.ours, ...peers, ...floors].filter((engine) => engines.includes(engine)).map((engine) => {
      const svg = document.createElementNS(ns, "svg"), path = document.createElementNS(ns, "path"), look = style(engine, theme);
      for (const [key, value] of Object.entries({ viewBox: "-1.3 -1.3 2.6 2.6", width: 13, height: 13, "aria-hidden": true })) svg.setAttribute(key, value);
      path.setAttribute("d", look.shape);
      path.setAttribute("fill", look.colour);
      svg.append(path);
      return element("span", { className: engine === data.ours ? "ours" : "" }, svg, engine);
    });
    document.getElementById("legend").replaceChildren(...drawn);
  }

  const tip = document.getElementById("tip");
  function show_tip(_, event, __, value) {
    tip.hidden = value == null || value === "";
    if (tip.hidden) return;
    tip.textContent = value;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - box.width - 4))}px`;
    tip.style.top = `${event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 8 : event.clientY + 16}px`;
  }

  // Expressions are interpreted, not compiled: the page's policy forbids eval.
  const kEmbed = { mode: "vega", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip: show_tip };
  let charts = [];
  let drawing = 0; // counts the drawings, so that an overtaken one stops; the check waits for data-drawn

  async function draw() {
    const mine = ++drawing;
    const theme = current_theme();
    charts.splice(0).forEach((chart) => chart.finalize());
    draw_legend(theme);
    for (const chart of kCharts) {
      const rows = chart.rows.filter(is_chosen);
      const groups = new Map();
      for (const row of rows) {
        const key = JSON.stringify(chart.by.map((name) => row[name]));
        groups.set(key, [...(groups.get(key) || []), row]);
      }
      const context = {
        rows, alone: groups.size === 1, memory: chosen("memory"), memory_name: chosen("memory") === "rss" ? "peak RSS" : "pool peak",
      };
      const place = document.querySelector(`#${chart.section} .panels`);
      place.replaceChildren();
      for (const group of groups.values()) {
        const title = chart.by.map((name) => (name === "threads" ? `${group[0].threads} ${group[0].threads === "1" ? "thread" : "threads"}` : group[0][name])).join(" · ");
        const box = element("div", {}), panel = element("figure", { className: "panel" }, element("h3", { textContent: title }), box);
        place.append(panel);
        const spec = chart.draw(group, theme, { ...context, width: box.clientWidth });
        if (!spec) {
          panel.remove();
          continue;
        }
        spec.width = box.clientWidth;
        spec.description = `${title}. ${spec.description}`;
        const drawn = await vegaEmbed(box, spec, kEmbed);
        if (mine !== drawing) return drawn.finalize();
        charts.push(drawn);
      }
      if (!place.children.length) place.append(element("p", { className: "empty", textContent: "Nothing was measured for this choice." }));
    }
    document.documentElement.dataset.drawn = mine;
  }

  function filter_tables() {
    let shown = 0;
    for (const row of document.querySelectorAll("tbody tr")) {
      row.hidden = !is_chosen(row.dataset);
      shown += !row.hidden && row.closest("#summary") !== null && !row.classList.contains("none");
    }
    document.getElementById("shown").textContent = `${shown} configurations shown`;
  }

  function update() {
    filter_tables();
    draw();
  }

  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let width = innerWidth, waiting;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's address bar comes and goes
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 150);
  });
  update();
})();
