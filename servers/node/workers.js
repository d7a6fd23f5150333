// One server process per CPU, since JavaScript runs on one thread: this process itself for one CPU, otherwise workers of Node's
// cluster module, which share the port.
import cluster from 'node:cluster';

/**
 * Starts a server in as many processes as there are CPUs, and ends them on SIGTERM.
 *
 * @param {string} name prefix of messages on stderr
 * @param {(host: string, port: number) => Promise<() => Promise<void>>} start listens; its result stops it
 */
export async function serve(name, start) {
  const cpus = Number(process.env.RPCBENCH_CPUS);
  if (cpus > 1 && cluster.isPrimary) {
    supervise(name, cpus);
    return;
  }
  let stop;
  try {
    if (process.env.RPCBENCH_RUNTIME_LOG) {
      const { logCollections } = await import('./runtime-log.js');
      logCollections(process.env.RPCBENCH_RUNTIME_LOG);
    }
    stop = await start(process.env.RPCBENCH_HOST, Number(process.env.RPCBENCH_PORT));
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exit(1);
  }
  process.once('SIGTERM', async () => {
    await stop();
    process.exit(0);
  });
}

// Ends the server if it loses a worker, since it would no longer use all its CPUs.
function supervise(name, count) {
  let stopping = false;
  const stop = () => {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) {
      worker.process.kill('SIGTERM');
    }
  };
  cluster.on('exit', (_worker, code, signal) => {
    if (!stopping) {
      console.error(`${name}: a worker process ended: ${signal ?? `exit code ${code}`}`);
      process.exitCode = code || 1;
      stop();
    }
  });
  process.once('SIGTERM', stop);
  for (let i = 0; i < count; i++) {
    cluster.fork();
  }
}
