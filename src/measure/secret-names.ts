/** What a CI runner hands to the programs it starts, and what people call what nobody else may read. */
const RUNNERS = /^(?:ACTIONS_|INPUT_|GH_)/
const SECRET =
  /(?:^|_)(?:TOKENS?|SECRETS?|PASSW(?:OR)?DS?|CREDENTIALS?|(?:PRIVATE|API|ACCESS|SECRET|MODEL)_?KEYS?)(?:_|$)/i
/** What would make a program other than it is. */
const LOADED = /^(?:NODE_OPTIONS|NODE_PATH|LD_|DYLD_|BASH_ENV$|GIT_)/

/** The one secret that a job of winnow's may hold: programs that are asked for ideas find it under this name. */
export const MODEL_KEY = 'WINNOW_MODEL_KEY'

/** Invariant 6: what looks like a secret stays out of the process that runs experiment code, not only out of theirs. */
export function isSecretName(name: string): boolean {
  return RUNNERS.test(name) || SECRET.test(name)
}

export function removeSecrets(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretName(name) && !LOADED.test(name)))
}
