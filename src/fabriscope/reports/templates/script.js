// Draws the figures one after the other, so that the first is there at once, and serves the page's one switch.
(async () => {
  const views = [];
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
      views.push(result.view);
    } catch (error) {
      place.textContent = "This figure could not be drawn: " + error.message;
      console.error(error);
    }
  }
  const toggle = document.getElementById("show-launches");
  const apply = () => {
    for (const view of views) {
      try {
        view.signal("show_launches", toggle.checked).runAsync();
      } catch (error) {
        // Ratio figures have no such signal.
      }
    }
  };
  toggle.addEventListener("change", apply);
  if (toggle.checked) apply();
  document.documentElement.dataset.drawn = String(views.length);
})();
