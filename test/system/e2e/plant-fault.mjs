/* Loaded into the service by a test: on a signal, what the service has no response to happens. */
const faults = {
  throw: () => {
    throw Object.assign(new Error('planted'), { password: 'hunter2', details: { authorization: 'hunter2' } });
  },
  reject: () => void Promise.reject(new Error('planted')),
  string: () => {
    throw 'hunter2';
  },
};
process.on('SIGUSR2', () => setTimeout(faults[process.env.PLANTED_FAULT], 0));
