// The issuer returns people to this page. It hands the response to the page that started the sign-on, and closes itself.

import { channelOf, isReceipt } from './channel.js';

const response = location.search;
// The address would keep the code in the history of the browser.
history.replaceState(null, '', location.pathname);

const show = (text: string) => {
  const outcome = document.querySelector('#outcome');
  if (outcome) outcome.textContent = text;
};

const channel = channelOf(new URLSearchParams(response).get('state') ?? '');
const timer = setTimeout(() => {
  channel.close();
  show('No page of Keyfront in this browser waits for this sign-on. Close this window, and sign on again there.');
}, 3_000);
channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (!isReceipt(data)) return;
  clearTimeout(timer);
  show('You can close this window.');
  window.close();
});
channel.postMessage(response);
