// Draws the figures one after the other, so that the first is there at once, and serves the legends, the switch and print.
(async () => {
  // Paper folds nothing out: what is to be printed stands open while the page is.
  const printed = [...document.querySelectorAll("details.printed:not([open])")];
  addEventListener("beforeprint", () => printed.forEach((one) => { one.open = true; }));
  addEventListener("afterprint", () => printed.forEach((one) => { one.open = false; }));

  const views = new Map();
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

  // Data is kept by columns: a value that all rows have, a list, or texts with the place of each row's among them.
  const cell = (column, row) =>
    Array.isArray(column) ? column[row] : column?.of ? column.of[column.at[row]] : column;
  const rows = ({ count, columns }) => Array.from({ length: count }, (_, row) =>
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, cell(column, row)])));
  options.config = JSON.parse(document.getElementById("config").textContent);

  for (const source of figures) {
    const place = document.getElementById(source.dataset.figure);
    try {
      const spec = JSON.parse(source.textContent);
      spec.datasets = Object.fromEntries(Object.entries(spec.datasets).map(([name, table]) => [name, rows(table)]));
      const result = await vegaEmbed(place, spec, options);
      views.set(source.dataset.figure, result.view);
    } catch (error) {
      place.textContent = "This figure could not be drawn: " + error.message;
      console.error(error);
    }
  }

  // A click on a name of a legend shows it alone, a second click shows all again.
  for (const legend of document.querySelectorAll("[data-legend]")) {
    const buttons = [...legend.querySelectorAll("button")];
    const press = (button) => {
      const view = views.get(legend.dataset.legend);
      if (!view) return;
      const wasPressed = button.getAttribute("aria-pressed") === "true";
      for (const other of buttons) {
        if (other.dataset.parameter === button.dataset.parameter) other.setAttribute("aria-pressed", "false");
      }
      button.setAttribute("aria-pressed", String(!wasPressed));
      legend.classList.toggle("picked", buttons.some((other) => other.getAttribute("aria-pressed") === "true"));
      view.signal(button.dataset.parameter, wasPressed ? "" : button.dataset.name).runAsync();
    };
    for (const button of buttons) button.addEventListener("click", () => press(button));
  }

  const toggle = document.getElementById("show-launches");
  const apply = () => {
    for (const view of views.values()) view.signal("show_launches", toggle.checked).runAsync();
  };
  toggle.addEventListener("change", apply);
  if (toggle.checked) apply(); // browsers keep the switch over a reload
  document.documentElement.dataset.drawn = String(views.size);
})();
