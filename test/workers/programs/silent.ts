setInterval(() => undefined, 1_000); // It never calls serveWorker().
