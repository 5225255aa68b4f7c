throw new Error("no flour");
