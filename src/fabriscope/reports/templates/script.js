// Draws the figures one after the other, so that the first is there at once, and serves the legends, the switch and print.
(async () => {
  // Paper folds nothing out: what is to be printed stands open while the page is.
  const printed = [...document.querySelectorAll("details.printed:not([open])")];
  addEventListener("beforeprint", () => printed.forEach((one) => { one.open = true; }));
  addEventListener("afterprint", () => printed.forEach((one) => { one.open = false; }));

  const views = new Map();
  const MOST_FOR_NAMES = 0.4; // of a figure's width
  const options = {
    renderer: "svg",
    mode: "vega-lite",
    actions: { export: true, source: false, compiled: false, editor: false },
    tooltip: { theme: "custom" },
  };

  // The library is a gzip file in base64: a third of its size.
  const unpacked = async (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const figures = document.querySelectorAll("script[data-figure]");
  try {
    const library = document.createElement("script");
    library.textContent = await unpacked(document.getElementById("library").textContent);
    document.head.append(library);
  } catch (error) {
    for (const source of figures) {
      document.getElementById(source.dataset.figure).textContent =
        "Figures need a browser of 2023 or later; the tables have all numbers. (" + error.message + ")";
    }
    console.error(error);
    return;
  }

  // Data is kept by columns: a value that all rows have, a list, values with in how many rows each stands, or texts with
  // the place of each row's among them.
  const unfolded = (column) => {
    if (!column?.of) return column;
    if (!column.times) return column.at.map((place) => column.of[place]);
    return column.of.flatMap((value, place) => Array(column.times[place]).fill(value));
  };
  const rows = ({ count, columns }) => {
    const lists = Object.entries(columns).map(([name, column]) => [name, unfolded(column)]);
    return Array.from({ length: count }, (_, row) =>
      Object.fromEntries(lists.map(([name, list]) => [name, Array.isArray(list) ? list[row] : list])));
  };
  // So are parts of a specification that stand in it several times.
  const whole = (value, shared) => {
    if (Array.isArray(value)) return value.map((part) => whole(part, shared));
    if (typeof value !== "object" || value === null) return value;
    if ("same" in value) return shared[value.same];
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, whole(part, shared)]));
  };
  options.config = JSON.parse(document.getElementById("config").textContent);

  // Names at the ends of lines leave the lines too little room on a narrow page: there the legend has them.
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "600 12px " + options.config.font;
  const unlabelled = (spec, place) => {
    const widths = (spec.datasets.labels ?? []).map(({ name }) => ruler.measureText(name).width);
    if (Math.max(0, ...widths) <= MOST_FOR_NAMES * place.clientWidth) return;
    spec.layer = spec.layer.filter(({ data }) => data.name !== "labels");
    delete spec.datasets.labels;
    document.querySelector(`[data-legend="${CSS.escape(place.id)}"]`).classList.remove("labelled");
  };

  for (const source of figures) {
    const place = document.getElementById(source.dataset.figure);
    try {
      const { shared, ...spec } = JSON.parse(source.textContent);
      spec.layer = whole(spec.layer, shared);
      spec.datasets = Object.fromEntries(Object.entries(spec.datasets).map(([name, table]) => [name, rows(table)]));
      unlabelled(spec, place);
      const result = await vegaEmbed(place, spec, options);
      views.set(source.dataset.figure, result.view);
    } catch (error) {
      place.textContent = "This figure could not be drawn: " + error.message;
      console.error(error);
    }
  }

  // A click on a name of a legend, or at the end of a line, shows it alone, a second click shows all again.
  const pick = (figure, picked) => {
    const legend = document.querySelector(`[data-legend="${CSS.escape(figure)}"]`);
    const buttons = [...legend.querySelectorAll("button")];
    const view = views.get(figure);
    const signals = new Set(buttons.map((button) => button.dataset.parameter));
    const isAgain = [...signals].every((name) => !(name in picked) || view.signal(name) === picked[name]);
    for (const name of signals) if (name in picked) view.signal(name, isAgain ? "" : picked[name]);
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(view.signal(button.dataset.parameter) === button.dataset.name));
    }
    legend.classList.toggle("picked", [...signals].some((name) => view.signal(name)));
    view.runAsync();
  };
  for (const [figure, view] of views) {
    const legend = document.querySelector(`[data-legend="${CSS.escape(figure)}"]`);
    for (const button of legend.querySelectorAll("button")) {
      button.addEventListener("click", () => pick(figure, { [button.dataset.parameter]: button.dataset.name }));
    }
    view.addEventListener("click", (_, mark) => {
      if (mark?.datum?.edge) pick(figure, { picked_hue: mark.datum.hue, picked_layer: mark.datum.layer });
    });
  }

  const toggle = document.getElementById("show-launches");
  const apply = () => {
    for (const view of views.values()) view.signal("show_launches", toggle.checked).runAsync();
  };
  toggle.addEventListener("change", apply);
  if (toggle.checked) apply(); // browsers keep the switch over a reload
  document.documentElement.dataset.drawn = String(views.size);
})();
