import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { detectProject } from '../../src/init/detect.ts'
import { renderGithubFiles, SETUP_ACTION, WORKFLOW } from '../../src/init/workflows/files.ts'
import { buildToolchain } from '../../src/init/workflows/setup-actions.ts'
import { createProjectFiles } from '../../src/init/project.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { SPEC } from '../cli/size-spec.ts'

export const ACTION = `somebody/winnow@${'ab12'.repeat(10)} # v1.2.3`

const ROOT = new URL('../..', import.meta.url).pathname

export interface Written {
  path: string
  text: string
}

/** What init writes for specs with these more lines each, in a project with these files. */
export function written(
  more: readonly string[][],
  project: Record<string, string> = NODE,
  { singleJob = false, action = ACTION, attest = false } = {},
): Written[] {
  const specs = more.map(
    (lines, at) =>
      parseSpec(`${withoutOwn(lines)}name: size-${at}\n${lines.join('\n')}\n`, { file: 'size.yaml' }).spec,
  )
  const files = createProjectFiles(Object.keys(project), new Map(Object.entries(project)))
  const testRepository = { files, repository: files, directory: '' }
  const toolchain = buildToolchain(detectProject(testRepository, undefined), testRepository)
  return renderGithubFiles({ action, specs, attest }, toolchain, { singleJob })
}

/** A line may take the place of one that every spec here has. */
function withoutOwn(lines: readonly string[]): string {
  const own = lines.map(line => line.slice(0, line.indexOf(':') + 1))
  return SPEC.split('\n')
    .filter(line => !own.some(key => line.startsWith(key)))
    .join('\n')
}

export const NODE = { 'package.json': '{}', '.nvmrc': '24\n', 'package-lock.json': '{}', 'index.js': '' }

export const PROJECTS: Readonly<Record<string, Record<string, string>>> = {
  node: NODE,
  pnpm: { 'package.json': '{"packageManager":"pnpm@10.0.0"}', 'pnpm-lock.yaml': '', 'index.js': '' },
  yarn: { 'package.json': '{}', 'yarn.lock': '', 'index.js': '' },
  bun: { 'package.json': '{}', 'bun.lock': '', 'index.js': '' },
  python: { 'pyproject.toml': '[project]\nname = "a"\n', 'uv.lock': '', 'a/__init__.py': '' },
  go: { 'go.mod': 'module a\n', 'go.sum': '', 'a.go': 'package a\n' },
  rust: { 'Cargo.toml': '[package]\nname = "a"\n', 'src/lib.rs': '' },
  java: { 'pom.xml': '<project/>', 'src/main/java/A.java': 'class A {}' },
  ruby: { Gemfile: '', 'lib/a.rb': '' },
  shell: { 'run.sh': 'echo\n' },
}

const ASKING = [
  'schedule: hourly',
  'propose: [{ use: external }, { use: command, command: ./ideas }]',
  'execution: { runs_on: [self-hosted, bench], services: { db: { image: "postgres:17", env: { A: b } } } }',
]

export const JUDGED = [
  'metric: { primary: { type: judge, name: quality, direction: maximize }, degenerate_gates: [{ name: n, check: ">= 1" }], judge: { rubric: Score 1 to 5., scoring: { primary: quality }, model: m, sample_size: 20 } }',
]
const RUNNER = ['execution: { runs_on: [self-hosted, bench] }']
export const COUNTING = ['metric: { primary: { name: instructions } }']
const ASKING_ONLY = ['propose: [{ use: command, command: ./ideas }]']

export function readOwnFile(path: string): Written {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') }
}

/** Everything of that kind that lies here, for this repository's own campaign. */
const OWN = [readOwnFile(WORKFLOW), readOwnFile(SETUP_ACTION)]

/** Workflows of this repository that init does not write. */
export const HAND_WRITTEN = readdirSync(join(ROOT, '.github/workflows'))
  .map(name => `.github/workflows/${name}`)
  .filter(path => path !== WORKFLOW)

/** Every shape there is: one campaign and several, with and without models, on all tool chains. */
export function everyFile(): (Written & { of: string })[] {
  const shapes = [
    ...Object.entries(PROJECTS).map(([of, project]) => ({ of, files: written([[]], project) })),
    { of: 'two campaigns, one of which asks', files: written([[], ASKING]) },
    { of: 'one campaign on a runner of its own', files: written([RUNNER]) },
    { of: 'a campaign that counts instructions', files: written([COUNTING]) },
    { of: 'a single job that counts', files: written([COUNTING], NODE, { singleJob: true }) },
    { of: 'a campaign that models judge', files: written([[], JUDGED]) },
    { of: 'the same, and a program to ask', files: written([[...JUDGED, ...ASKING_ONLY]]) },
    {
      of: 'a campaign that GitHub attests',
      files: written([[...JUDGED, ...ASKING_ONLY]], NODE, { attest: true }),
    },
    { of: 'a single job', files: written([[]], NODE, { singleJob: true }) },
    {
      of: 'a single job that asks',
      files: written([ASKING_ONLY], NODE, { singleJob: true }),
    },
    {
      of: 'a prefix of its own',
      files: written([['branches: { prefix: tuning }', 'schedule: "5 4 * * 1-5"'], []]),
    },
  ]
  const all = [...shapes, { of: 'this repository', files: OWN }]
  return all.flatMap(({ of, files }) => files.map(file => ({ ...file, of })))
}
