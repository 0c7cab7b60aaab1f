// Named, so that the console and tests can look at what is drawn.
window.bubbleproof = new Page(JSON.parse(document.getElementById("data").textContent));
