import { hashSha256 } from '../../model/canonical-json.ts'
import type { NewFile } from '../harness.ts'
import { renderAgentsAction, renderSetupAction, type Toolchain } from './setup-actions.ts'
import { type GithubSetup, hasProgramProposers } from './setup.ts'
import { renderSingleJobWorkflow, renderWorkflow } from './workflow.ts'

export const WORKFLOW = '.github/workflows/winnow.yml'
export const SETUP_ACTION = '.github/actions/winnow-setup/action.yml'
export const AGENTS_ACTION = '.github/actions/winnow-agents/action.yml'
/** Written where they are missing, and their owner's from then on. */
export const OWNER_FILES: ReadonlySet<string> = new Set([SETUP_ACTION, AGENTS_ACTION])

/** Every file that any set-up may write. */
export const GITHUB_PATHS: readonly string[] = [WORKFLOW, SETUP_ACTION, AGENTS_ACTION]

/** Renders all that a repository needs for campaigns on GitHub. */
export function renderGithubFiles(
  setup: GithubSetup,
  toolchain: Toolchain,
  { singleJob = false }: { singleJob?: boolean } = {},
): NewFile[] {
  return [
    { path: WORKFLOW, text: singleJob ? renderSingleJobWorkflow(setup) : renderWorkflow(setup) },
    { path: SETUP_ACTION, text: renderSetupAction(toolchain) },
    ...(hasProgramProposers(setup) ? [{ path: AGENTS_ACTION, text: renderAgentsAction(setup) }] : []),
  ]
}

/**
 * The last line of a workflow file that `init --github` wrote: a digest of the lines above it. It tells a file that only
 * winnow and Dependabot changed, which can be written anew, from one that a person changed. The commits of actions do
 * not count.
 */
const LINE =
  /^# Digest of the lines above, by which winnow sees whether they were changed by hand: ([0-9a-f]{16})$/m
const PIN = /(^\s*(?:- )?uses:\s+\S+?)@\S+(?:\s+#.*)?$/gm

function computeTextDigest(text: string): string {
  return hashSha256(text.replace(PIN, '$1').trimEnd()).slice(0, 16)
}

function splitDigest(text: string): { body: string; digest: string | null } {
  const plain = text.replaceAll('\r\n', '\n')
  const digest = LINE.exec(plain)?.[1] ?? null
  return { body: `${plain.replace(LINE, '').trimEnd()}\n`, digest }
}

export function withDigest(text: string): string {
  const { body } = splitDigest(text)
  return `${body}${LINE.source.replace(/^\^|\$$/g, '').replace('([0-9a-f]{16})', computeTextDigest(body))}\n`
}

/** Whether winnow wrote the file, and nobody changed more than the commits of actions since. */
export function isAsWritten(text: string): boolean {
  const { body, digest } = splitDigest(text)
  return digest !== null && digest === computeTextDigest(body)
}

/** The digest that the file carries, whether it fits or not. */
export function readDigest(text: string): string | null {
  return splitDigest(text).digest
}

/** The text with the last line of the file. */
export function copyDigestLine(text: string, file: string): string {
  const line = LINE.exec(file)?.[0]
  const { body } = splitDigest(text)
  return line === undefined ? body : `${body}${line}\n`
}

const USES = /^(\s*(?:- )?uses:\s+)([^\s@]+)@(\S+)(?:\s+# (\S+))?[ \t]*$/gm

/**
 * The text with the commits of actions that the file had, where their version is newer: Dependabot brought them. On an
 * Enterprise Server older ones may be the only ones that work, so there any are kept. The action of winnow itself stays
 * as it is in the text.
 */
export function withKeptActions(
  text: string,
  { file, own, onServer }: { file: string; own: string; onServer: boolean },
): string {
  const had = new Map(
    [...file.matchAll(USES)].map(([, , action = '', commit, version = '']) => [action, { commit, version }]),
  )
  return text.replace(USES, (line, start: string, action: string, _: string, version: string | undefined) => {
    const before = had.get(action)
    if (before === undefined || action === own) return line
    if (!onServer && !isNewer(before.version, version ?? '')) return line
    return `${start}${action}@${before.commit}${before.version === '' ? '' : ` # ${before.version}`}`
  })
}

/** Of two versions with nothing but numbers; what is none is not newer, and nothing is newer than it. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map(each => /^v?(\d+(?:\.\d+)*)$/.exec(each)?.[1]?.split('.').map(Number))
  if (a === undefined || b === undefined) return false
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
