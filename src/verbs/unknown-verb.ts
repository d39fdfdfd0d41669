import { UserError } from '../errors.ts'
import { findNearestWord } from '../spec/suggest.ts'
import type { Verb } from './verb.ts'

/** What people type elsewhere for what a verb does here. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  init: ['setup', 'new', 'create', 'install'],
  check: ['validate', 'lint', 'verify', 'test'],
  compare: ['diff', 'bench', 'benchmark', 'versus'],
  try: ['attempt', 'eval', 'evaluate', 'submit'],
  run: ['start', 'go', 'optimize', 'optimise', 'continue', 'exec', 'watch'],
  demo: ['example', 'tutorial'],
  status: ['list', 'ls', 'st', 'info', 'state', 'results', 'experiments', 'summary'],
  show: ['view', 'describe', 'explain', 'cat', 'get', 'inspect'],
  log: ['logs', 'history', 'events'],
  approve: ['accept', 'allow', 'ok'],
  pause: ['hold', 'suspend', 'freeze'],
  stop: ['end', 'abort', 'cancel', 'kill', 'quit', 'finish'],
  resume: ['unpause'],
  revert: ['undo', 'rollback', 'reject'],
  amend: ['edit', 'config', 'change'],
  archive: ['reset', 'clean', 'clear'],
  uninstall: ['remove', 'delete', 'rm', 'purge'],
  propose: ['add', 'offer', 'suggest'],
  note: ['comment', 'remember'],
  doctor: ['diagnose', 'health', 'troubleshoot'],
  audit: ['prove', 'proof'],
  version: ['about'],
}

/** There is no such command: always with one that was probably meant, or where they are all listed. */
export function createUnknownVerbError(name: string, verbs: readonly Verb[]): UserError {
  const near = findMeantVerb(name, verbs)
  return new UserError(`there is no command ${JSON.stringify(name)}`, {
    fix: near === undefined ? 'winnow help lists the commands' : `did you mean winnow ${near}?`,
  })
}

function findMeantVerb(word: string, verbs: readonly Verb[]): string | undefined {
  const names = verbs.map(({ name }) => name)
  const same = names.find(name => OTHER_WORDS[name]?.includes(word.toLowerCase()))
  const begun = word.length < 2 ? undefined : names.find(name => name.startsWith(word.toLowerCase()))
  return same ?? findNearestWord(word, names) ?? begun
}
