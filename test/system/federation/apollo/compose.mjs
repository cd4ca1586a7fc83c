import { composeServices as composeToday } from '@apollo/composition';
import { composeServices as composeBefore } from 'composition-2.9';
import { parse } from 'graphql';

/** Composes subgraphs by their names with Apollo's composition of today, and with the oldest that has our directives. */
export const composers = [
  ["Apollo's composition", composer(composeToday)],
  ["Apollo's composition 2.9.0", composer(composeBefore)],
];

function composer(composeServices) {
  return (subgraphs) => {
    const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: '', typeDefs: parse(sdl) }));
    const { errors = [], hints = [], supergraphSdl } = composeServices(services);
    const messages = [...errors, ...hints].map(({ message }) => message);
    return { messages, supergraphSDL: supergraphSdl ?? '' };
  };
}
