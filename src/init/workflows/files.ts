import { hashSha256 } from '../../model/canonical-json.ts'
import type { NewFile } from '../harness.ts'
import { renderAgentsAction, renderSetupAction, type Toolchain } from './setup-actions.ts'
import { type GithubSetup, hasProgramProposers } from './setup.ts'
import { renderSingleJobWorkflow, renderWorkflow } from './workflow.ts'

export const WORKFLOW = '.github/workflows/winnow.yml'
export const SETUP_ACTION = '.github/actions/winnow-setup/action.yml'
export const AGENTS_ACTION = '.github/actions/winnow-agents/action.yml'
/** `init --github` writes these only if they are missing. After that their owner maintains them. */
export const OWNER_FILES: ReadonlySet<string> = new Set([SETUP_ACTION, AGENTS_ACTION])

export const GITHUB_PATHS: readonly string[] = [WORKFLOW, SETUP_ACTION, AGENTS_ACTION]

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

// Digest line

/**
 * The last line of a workflow file that `init --github` wrote: a digest of the lines above it. winnow
 * rewrites a file that only winnow and Dependabot changed, and leaves one that a person changed. The commits
 * of actions do not count.
 */
const DIGEST_LINE =
  /^# Digest of the lines above, by which winnow sees whether they were changed by hand: ([0-9a-f]{16})$/m
const ACTION_COMMIT = /(^\s*(?:- )?uses:\s+\S+?)@\S+(?:\s+#.*)?$/gm

function computeTextDigest(text: string): string {
  return hashSha256(text.replace(ACTION_COMMIT, '$1').trimEnd()).slice(0, 16)
}

function splitDigest(text: string): { body: string; digest: string | null } {
  const plain = text.replaceAll('\r\n', '\n')
  const digest = DIGEST_LINE.exec(plain)?.[1] ?? null
  return { body: `${plain.replace(DIGEST_LINE, '').trimEnd()}\n`, digest }
}

export function withDigest(text: string): string {
  const { body } = splitDigest(text)
  return `${body}${DIGEST_LINE.source.replace(/^\^|\$$/g, '').replace('([0-9a-f]{16})', computeTextDigest(body))}\n`
}

/** True if winnow wrote the file and later changes concern only commits of actions. */
export function isAsWritten(text: string): boolean {
  const { body, digest } = splitDigest(text)
  return digest !== null && digest === computeTextDigest(body)
}

/** Returns the digest of the last line, also if it does not match. */
export function readDigest(text: string): string | null {
  return splitDigest(text).digest
}

export function copyDigestLine(text: string, file: string): string {
  const line = DIGEST_LINE.exec(file)?.[0]
  const { body } = splitDigest(text)
  return line === undefined ? body : `${body}${line}\n`
}

// Commits of actions

const USES = /^(\s*(?:- )?uses:\s+)([^\s@]+)@(\S+)(?:\s+# (\S+))?[ \t]*$/gm

/**
 * Keeps the commits of actions from the existing file where their version is newer, because Dependabot
 * updated them. On an Enterprise Server older versions may be the only ones that work, so all are kept. The
 * action of winnow itself is not kept.
 */
export function withKeptActions(
  text: string,
  { file, own, onServer }: { file: string; own: string; onServer: boolean },
): string {
  const existing = new Map(
    [...file.matchAll(USES)].map(([, , action = '', commit, version = '']) => [action, { commit, version }]),
  )
  return text.replace(USES, (line, start: string, action: string, _: string, version: string | undefined) => {
    const previous = existing.get(action)
    if (previous === undefined || action === own) return line
    if (!onServer && !isNewer(previous.version, version ?? '')) return line
    return `${start}${action}@${previous.commit}${previous.version === '' ? '' : ` # ${previous.version}`}`
  })
}

/** Compares numeric versions. False if either is not numeric. */
export function isNewer(version: string, other: string): boolean {
  const [a, b] = [version, other].map(each => /^v?(\d+(?:\.\d+)*)$/.exec(each)?.[1]?.split('.').map(Number))
  if (a === undefined || b === undefined) return false
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
