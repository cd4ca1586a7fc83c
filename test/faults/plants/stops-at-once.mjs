// A bug for the harnesses to catch: asked to stop, the process stops, whatever it has begun.
process.on('SIGTERM', () => process.exit(0));
