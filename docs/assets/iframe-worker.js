// iframe-worker: browsers allow no worker on a page that is opened as a file, so that the script of the search runs in a
// hidden frame there. The name of this file keeps the offline plugin from loading one from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow, page = inside.document;
      page.open();
      page.write("<body></body>");
      page.close();
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((loaded) => {
        const script = page.createElement("script");
        script.onload = () => loaded(inside);
        script.src = address;
        page.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
