import type { ComponentType } from 'preact';
import { Activity } from './activity.js';
import { OtherFields } from './definition.js';
import { DeploymentsOfKey } from './deployments.js';
import { Details } from './details.js';
import { ExplainRequest } from './explain-request.js';
import { Limits } from './limits.js';
import { ProposalsOfKey } from './proposals.js';
import { QuotaPanel } from './quota-panel.js';
import type { SectionProps } from './read-key.js';
import { Rotation } from './rotation.js';
import { UseByDay } from './use-by-day.js';

/** A section, and whether it starts again when the key has a new version. */
interface Section {
  readonly name: string;
  readonly component: ComponentType<SectionProps>;
  readonly isPerVersion?: boolean;
}

/**
 * The sections of the page of a key, in their order. What is added to the page is one entry here.
 * docs/decisions/console.md has the map.
 */
export const sections: Readonly<Record<'main' | 'side', readonly Section[]>> = {
  main: [
    { name: 'rotation', component: Rotation },
    { name: 'quota', component: QuotaPanel },
    { name: 'use', component: UseByDay },
    { name: 'request', component: ExplainRequest },
    { name: 'activity', component: Activity, isPerVersion: true },
  ],
  side: [
    { name: 'limits', component: Limits },
    { name: 'proposals', component: ProposalsOfKey },
    { name: 'deployments', component: DeploymentsOfKey },
    { name: 'other', component: OtherFields },
    { name: 'details', component: Details },
  ],
};
