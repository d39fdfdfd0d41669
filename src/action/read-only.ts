import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner, type GitRunner } from '../git/runner.ts'
import { inspectCheckout } from '../git/work-tree.ts'
import { removeSecrets } from '../measure/environment.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { type ActionEnv, resolveInWorkspace } from './inputs.ts'
import { getTempDir } from './job.ts'
import { appendSummary, printAnnotation, setOutputs, toLogLine } from './outputs.ts'
import type { Task } from './root-pipe.ts'

const MOST_BYTES = 32 * 1024 * 1024

/** Runs the command line of winnow. Its standard output becomes the output result-json. */
export async function runReadingCommand(
  { inputs, env }: Task,
  argv: readonly string[],
  secrets: ActionEnv = {},
): Promise<number> {
  const directory = resolveInWorkspace(env, inputs.directory)
  const at = { inputs: { ...inputs, directory }, env }
  return withCloneAsRemote(directory, env, gitEnv => spawnCommandLine(at, argv, { ...gitEnv, ...secrets }))
}

async function spawnCommandLine(
  { inputs, env }: Task,
  argv: readonly string[],
  more: ActionEnv,
): Promise<number> {
  const { campaign, directory } = inputs
  const options = [...(campaign === '' ? [] : [`--campaign=${campaign}`]), `--directory=${directory}`]
  const program = fileURLToPath(new URL('cli.js', import.meta.url))
  const ended = spawnSync(process.execPath, [program, ...argv, ...options], {
    env: { ...removeSecrets(env), ...more },
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (ended.error !== undefined) throw ended.error
  setOutputs({ 'result-json': ended.stdout.trim() })
  for (const text of [ended.stdout, ended.stderr]) if (text !== '') console.log(toLogLine(text.trimEnd()))
  const [mistake] = /^error: .*$/m.exec(ended.stderr) ?? []
  if (mistake !== undefined) printAnnotation(mistake)
  appendSummary(
    `winnow ${argv[0] ?? ''}, exit code ${ended.status ?? 'none'}. ${escapeMarkdown(mistake ?? '')}`.trimEnd(),
  )
  return ended.status ?? 70
}

const FOLLOWED = 'refs/remotes/origin/'
/** Anchors of a ledger are tags. */
const TAGS = 'refs/tags/'

/**
 * Commands that only read need no token, also in a private repository, because actions/checkout has fetched
 * every branch and tag. The variables passed to `work` make git find the clone's copies of them at the
 * address of origin. The clone itself does not change.
 */
export async function withCloneAsRemote<T>(
  directory: string,
  env: ActionEnv,
  work: (gitEnv: ActionEnv) => Promise<T>,
): Promise<T> {
  const { commonDir, head, remotes } = await inspectCheckout(directory, env)
  const origin = remotes.find(({ name }) => name === 'origin')
  if (origin === undefined) return work({})
  const git = createGitRunner(buildLocalIsolation(directory, env))
  await requireHistory(git)
  const room = mkdtempSync(join(getTempDir(env), 'winnow-origin-'))
  try {
    const refs = await git.run({
      args: ['for-each-ref', '--format=%(objectname) %(refname)', FOLLOWED, TAGS],
      parse: toLines,
    })
    const branch = (await readFollowedHead(git)) ?? readDefaultBranch(env) ?? head ?? 'refs/heads/main'
    const format = await git.run({
      args: ['rev-parse', '--show-object-format'],
      parse: ({ stdout }) => stdout.trim(),
    })
    const dir = join(room, 'origin.git')
    await git.run({ args: ['init', '--bare', `--object-format=${format}`, dir], parse: () => null })
    mkdirSync(join(dir, 'objects/info'), { recursive: true })
    writeFileSync(join(dir, 'objects/info/alternates'), `${join(commonDir, 'objects')}\n`)
    writeFileSync(join(dir, 'packed-refs'), renderPackedRefs(refs))
    writeFileSync(join(dir, 'HEAD'), `ref: ${branch}\n`)
    return await work(rewriteAddress(origin.url, dir))
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

async function requireHistory(git: GitRunner): Promise<void> {
  const args = ['rev-parse', '--is-shallow-repository']
  if ((await git.run({ args, parse: ({ stdout }) => stdout.trim() })) !== 'true') return
  throw new UserError('the clone has no history (it is shallow)', {
    fix: 'set `fetch-depth: 0` for actions/checkout, which fetches the history of every branch',
  })
}

const toLines = ({ stdout }: { stdout: string }) => stdout.split('\n').filter(line => line !== '')

/** git requires packed refs to be sorted by name. */
function renderPackedRefs(refs: readonly string[]): string {
  const named = refs.flatMap(line => {
    const [oid = '', ref = ''] = line.split(' ')
    return ref === `${FOLLOWED}HEAD` ? [] : [{ oid, ref: ref.replace(FOLLOWED, 'refs/heads/') }]
  })
  const sorted = named.toSorted((a, b) => (a.ref < b.ref ? -1 : 1))
  return `# pack-refs with: sorted\n${sorted.map(({ oid, ref }) => `${oid} ${ref}\n`).join('')}`
}

async function readFollowedHead(git: GitRunner): Promise<string | null> {
  return git.run({
    args: ['symbolic-ref', '-q', `${FOLLOWED}HEAD`],
    answers: [1, 128],
    parse: ({ stdout }) => stdout.trim().replace(FOLLOWED, 'refs/heads/') || null,
  })
}

const event = z.object({ repository: z.object({ default_branch: z.string() }) })

/** actions/checkout does not store the default branch; the event of the run does. */
function readDefaultBranch({ GITHUB_EVENT_PATH: file = '' }: ActionEnv): string | null {
  if (file === '') return null
  const parsed = event.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return parsed.success ? `refs/heads/${parsed.data.repository.default_branch}` : null
}

/** Replaces all other configuration from the environment, which may hold credentials. */
function rewriteAddress(url: string, dir: string): ActionEnv {
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `url.${dir}.insteadOf`, GIT_CONFIG_VALUE_0: url }
}
