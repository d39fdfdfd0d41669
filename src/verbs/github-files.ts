import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { Point } from '../model/ids.ts'
import { detect } from '../setup/detect.ts'
import type { Yard } from '../setup/findings.ts'
import { requirePinned } from '../setup/github/action-reference.ts'
import { OF_THE_OWNER, renderGithubFiles } from '../setup/github/files.ts'
import { asksPrograms } from '../setup/github/github-setup.ts'
import { MODEL_ENVIRONMENT, MODEL_SECRET } from '../setup/github/permissions.ts'
import { toolchainOf } from '../setup/github/toolchain.ts'
import type { NewFile } from '../setup/harness/skeleton.ts'
import { below } from '../setup/project-files.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'
import { unsupported } from '../spec/unsupported.ts'
import type { Call } from './call.ts'
import { committedProject } from './committed-project.ts'
import { ARTIFACTS_OF_A_SERVER, githubOf } from './github-of.ts'
import { existingSpecs } from './existing-specs.ts'
import { writeNewFiles } from './new-files.ts'

interface Ground {
  workshop: Workshop
  topLevel: string
  base: Point
}

/** Files in the work tree and nothing else: a person commits them, and merging their pull request starts it all. */
export async function initGithub(call: Call, ground: Ground): Promise<number> {
  const { terminal, given } = call
  const specs = await specsOf(ground)
  const action = given.text('action')
  if (action === undefined) {
    throw new UserError('which commit of the winnow action the workflows are to run is not known', {
      fix: 'winnow init --github --action owner/winnow@<the 40 digits of a commit>',
    })
  }
  requirePinned(action)
  const yard = await yardOf(ground, specs)
  const toolchain = toolchainOf(detect(yard, given.text('language')), yard)
  const setup = { action, specs }
  const wanted = renderGithubFiles(setup, toolchain, { singleJob: given.flag('single-job') })
  if (given.flag('dry-run')) {
    terminal.out('Nothing was written. It would be:')
    for (const { path, text } of wanted) terminal.out(`\n--- ${path}\n${text.trimEnd()}`)
    return 0
  }
  const fresh = withoutWritten(ground.topLevel, wanted)
  await writeNewFiles(ground.topLevel, fresh)
  const lines =
    fresh.length === 0
      ? ['All files are there already; nothing was written.']
      : [...written(fresh), ...(asksPrograms({ specs }) ? [FOR_PROGRAMS] : []), ...forServer(call, ground)]
  for (const line of lines) terminal.out(line)
  return 0
}

/** Those of the work tree before those of the default branch: they may be about to be committed together. */
async function specsOf({ workshop, topLevel, base }: Ground): Promise<Spec[]> {
  const found: Spec[] = []
  for (const { path } of await existingSpecs(workshop, base)) {
    const file = join(topLevel, path)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : await committed(workshop, base, path)
    const { spec } = parseSpec(text, { file: path })
    const missing = unsupported(spec, 'github')
    if (missing.length > 0) {
      const fix = 'remove or change what is named above; then winnow init --github'
      throw new UserError(missing.join('\n'), { place: { file: path }, fix })
    }
    found.push(spec)
  }
  if (found.length > 0) return found
  throw new UserError('there is no spec yet, and the workflows are written for specs', {
    place: { file: '.winnow/<name>.yaml' },
    fix: 'winnow init writes one; then winnow init --github',
  })
}

async function committed({ repository }: Workshop, { tree }: Point, path: string): Promise<string> {
  const entry = await repository.entryAt(tree, path)
  return entry === null ? '' : (await repository.blob(entry.oid)).toString('utf8')
}

/** The project that the first spec measures. */
async function yardOf({ workshop, base }: Ground, [spec]: readonly Spec[]): Promise<Yard> {
  const repository = await committedProject(workshop, base)
  const directory = (spec?.measurement.working_directory ?? '.').replace(/^\.(?:\/|$)|\/+$/g, '')
  return { files: below(repository, directory), repository, directory }
}

/** The set-ups are their owner's from the first time on; anything else that differs is for a person. */
function withoutWritten(topLevel: string, wanted: readonly NewFile[]): NewFile[] {
  const isThere = ({ path }: NewFile) => existsSync(join(topLevel, path))
  const differs = wanted.find(
    file =>
      isThere(file) &&
      !OF_THE_OWNER.has(file.path) &&
      readFileSync(join(topLevel, file.path), 'utf8') !== file.text,
  )
  if (differs === undefined) return wanted.filter(file => !isThere(file))
  throw new UserError(`${differs.path} exists already and is another; nothing was written`, {
    place: { file: differs.path },
    fix: `winnow init --github --dry-run shows what it would be; to have it, git rm ${differs.path} and repeat`,
  })
}

const FOR_PROGRAMS = `For the programs that are asked for ideas: the key of their model in the secret ${MODEL_SECRET} of an environment ${MODEL_ENVIRONMENT}.`

function forServer({ around }: Call, { workshop }: Ground): string[] {
  const server = githubOf(workshop, around.env)?.server ?? null
  return server === null ? [] : [`If ${server} is a GitHub Enterprise Server: ${ARTIFACTS_OF_A_SERVER}.`]
}

function written(files: readonly NewFile[]): string[] {
  return [
    ...files.map(({ path }) => `Wrote ${path}`),
    '',
    'Next, as one pull request; closing it undoes everything, and nothing runs before it is merged:',
    '  git switch -c winnow-setup',
    `  git add ${files.map(({ path }) => path).join(' ')}`,
    '  git commit -m "ci: winnow" && git push -u origin winnow-setup',
    '  gh pr create --fill',
    'Then, in Settings > Actions > General: allow GitHub Actions to create and approve pull requests.',
  ]
}
