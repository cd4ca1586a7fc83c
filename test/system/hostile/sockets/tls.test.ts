import { writeTLSFiles } from '../../../support/localhost-tls.js';
import { describeCutConnections } from './cut-connections.js';
import { startAttackedService } from './service.js';
import { tlsStages, webSocketStages } from './stages.js';

describeCutConnections('TLS', {
  start: async () => {
    const files = writeTLSFiles();
    const settings = { KEYFRONT_TLS_CERT: files.certFile, KEYFRONT_TLS_KEY: files.keyFile };
    const service = await startAttackedService([], settings);
    files.remove();
    return service;
  },
  isTLS: true,
  stages: [...tlsStages, ...webSocketStages],
  batchSize: 24,
});
