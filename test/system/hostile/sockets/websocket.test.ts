import { describeCutConnections } from './cut-connections.js';
import { startAttackedService } from './service.js';
import { webSocketStages } from './stages.js';

describeCutConnections('WebSocket', { start: () => startAttackedService(), stages: webSocketStages, batchSize: 50 });
