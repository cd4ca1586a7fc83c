import { render } from 'preact';
import { App } from './app.js';
import { applyPreferences, readPreferences } from './preferences.js';

applyPreferences(readPreferences());
const root = document.getElementById('root');
if (root) render(<App />, root);
