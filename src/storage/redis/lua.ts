import { createHash } from 'node:crypto';

/** A script that the server caches by its hash, and that is sent again when the cache has lost it. */
export interface Script {
  readonly text: string;
  readonly hash: string;
}

function script(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

/*
 * Both keys of a counter are in one hash slot. The first is the counter itself, a plain integer that expires at the end
 * of its period, as gateways use it. The second stores what such a counter cannot: the key that it belongs to, the last
 * applied change, and the end of its period. Numbers are passed as text: those of Lua have 53 bits.
 */
const state = `
local function state()
  local count = redis.call('GET', KEYS[1])
  local kept = redis.call('HMGET', KEYS[2], 'identity', 'changed', 'renews', 'expires')
  return { count or '', string.format('%.0f', redis.call('PEXPIRETIME', KEYS[1])),
    kept[1] or '', kept[2] or '', kept[3] or '', kept[4] or '' }
end
`;

/** Returns the values of the two keys. */
export const readScript = script(`${state}
return state()`);

/** Returns a receipt: the time in milliseconds, a colon, and the sealed result in base64; empty if there is none. */
export const readReceiptScript = script(`return { redis.call('GET', KEYS[1]) or '' }`);

/**
 * Writes if nothing but the count has changed since it was read, and returns the values before. Arguments: the expiry and
 * the four stored values as they were read; then `add` and an amount to add, rejected when the count is above the limit,
 * or `set` and the new count; then the limit or empty; the time to live in milliseconds, `none`, or empty for no change;
 * and the values to store. With a receipt, also the count as it was read, the receipt, the time up to which receipts are
 * expired, and how long it is kept, in milliseconds: the count must not have changed either, and there must not be a
 * receipt with this id. The receipt is written with the count.
 */
export const writeScript = script(`${state}
local function isMore(a, b)
  if string.sub(a, 1, 1) == '-' or a == '' then return false end
  if #a ~= #b then return #a > #b end
  return a > b
end
local before = state()
for place = 1, 5 do
  if before[place + 1] ~= ARGV[place] then return { 'other', unpack(before) } end
end
local receipt = ARGV[14]
if receipt then
  local found = redis.call('GET', KEYS[3])
  if found and tonumber(string.match(found, '^%d+')) > tonumber(ARGV[15]) then return { 'repeated', unpack(before) } end
  if before[1] ~= ARGV[13] then return { 'other', unpack(before) } end
end
local way, amount, limit, ttl = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
if way == 'add' then
  if limit ~= '' and isMore(before[1], limit) then return { 'over', unpack(before) } end
  if amount ~= '0' then redis.call('INCRBY', KEYS[1], amount) end
else
  redis.call('SET', KEYS[1], amount)
end
if ttl == 'none' then redis.call('PERSIST', KEYS[1])
elseif ttl ~= '' then redis.call('PEXPIRE', KEYS[1], ttl) end
local expires = string.format('%.0f', redis.call('PEXPIRETIME', KEYS[1]))
if ARGV[10] ~= before[3] or ARGV[11] ~= before[4] or ARGV[12] ~= before[5] or expires ~= before[6] then
  redis.call('HSET', KEYS[2], 'identity', ARGV[10], 'changed', ARGV[11], 'renews', ARGV[12], 'expires', expires)
end
if receipt then redis.call('SET', KEYS[3], receipt, 'PX', ARGV[16]) end
return { 'done', unpack(before) }`);
