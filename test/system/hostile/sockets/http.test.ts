import { describeCutConnections } from './cut-connections.js';
import { startAttackedService } from './service.js';
import { httpStages } from './stages.js';

describeCutConnections('HTTP', { start: () => startAttackedService(), stages: httpStages, batchSize: 50 });
