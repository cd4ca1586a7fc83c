import { describeCutConnections } from './cut-connections.js';
import { startAttackedService } from './service.js';
import { httpStages, webSocketStages } from './stages.js';

describeCutConnections('two workers', {
  start: () => startAttackedService(['--workers', '2']),
  stages: [...httpStages, ...webSocketStages],
  batchSize: 36,
});
