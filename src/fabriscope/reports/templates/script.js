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

  for (const source of document.querySelectorAll("script[data-figure]")) {
    const place = document.getElementById(source.dataset.figure);
    try {
      const result = await vegaEmbed(place, JSON.parse(source.textContent), options);
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
