import { describeCutConnections } from './cut-connections.js';
import { startAttackedService } from './service.js';
import { metricsStages } from './stages.js';

// At most 32 connections are open at the metrics port.
describeCutConnections('the metrics port', {
  start: () => startAttackedService(),
  port: ({ metricsPort }) => metricsPort,
  stages: metricsStages,
  batchSize: 30,
});
