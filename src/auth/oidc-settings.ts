/** The issuer of single sign-on whose tokens stand for management credentials. */
export interface OIDCSettings {
  /** Exactly as the issuer writes itself in `iss`. */
  readonly issuer: string;
  readonly audience: string;
  /** Where its keys are; undefined where it tells itself, at `/.well-known/openid-configuration`. */
  readonly jwksURL: string | undefined;
  /** The claim that binds a caller to an organisation; undefined where nothing does. */
  readonly orgClaim: string | undefined;
}

/** What a `KEYFRONT_OIDC_` setting means, for the README. */
export const oidcSettings = {
  KEYFRONT_OIDC_ISSUER:
    'Issuer of single sign-on: its tokens (JWT) preview like a management credential. https, or http on loopback.',
  KEYFRONT_OIDC_AUDIENCE: 'What its tokens must name as their audience.',
  KEYFRONT_OIDC_JWKS_URL: 'Where its keys are. Default: where its /.well-known/openid-configuration says.',
  KEYFRONT_OIDC_ORG_CLAIM:
    'The claim that names the one organisation of a caller; a token without it is refused. Default: callers are bound to none.',
} as const;

/** Reads the settings of single sign-on: undefined where there are none, and every problem in words. */
export function readOIDCSettings(env: Readonly<Record<string, string | undefined>>): {
  oidc: OIDCSettings | undefined;
  problems: string[];
} {
  const given = Object.keys(oidcSettings).filter((name) => env[name] !== undefined);
  if (given.length === 0) return { oidc: undefined, problems: [] };

  const problems: string[] = [];
  const { KEYFRONT_OIDC_ISSUER: issuer, KEYFRONT_OIDC_AUDIENCE: audience } = env;
  const { KEYFRONT_OIDC_JWKS_URL: jwksURL, KEYFRONT_OIDC_ORG_CLAIM: orgClaim } = env;
  if (issuer === undefined) problems.push(`${given.join(', ')}: single sign-on needs KEYFRONT_OIDC_ISSUER as well.`);
  else if (audience === undefined) problems.push('KEYFRONT_OIDC_ISSUER needs KEYFRONT_OIDC_AUDIENCE as well.');
  if (issuer !== undefined && !isTrustworthy(issuer, false))
    problems.push(`KEYFRONT_OIDC_ISSUER ${mustBe}, without a query.`);
  if (jwksURL !== undefined && !isTrustworthy(jwksURL, true)) problems.push(`KEYFRONT_OIDC_JWKS_URL ${mustBe}.`);
  if (audience?.trim() === '') problems.push('KEYFRONT_OIDC_AUDIENCE must not be empty.');
  if (orgClaim?.trim() === '') problems.push('KEYFRONT_OIDC_ORG_CLAIM must name a claim.');
  if (issuer === undefined || audience === undefined) return { oidc: undefined, problems };
  return { oidc: { issuer, audience, jwksURL, orgClaim }, problems };
}

const mustBe = 'must be an https URL, or an http URL of a loopback address';

/** Whether keys that come from the URL can be believed: nobody on the way can exchange them. */
export function isTrustworthy(text: string, mayHaveQuery: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '' || (search !== '' && !mayHaveQuery)) return false;
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
