import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAsWritten, WORKFLOW } from '../../src/init/workflows/files.ts'
import { scratch, userRepository } from '../git/scratch.ts'
import { commandsOn } from '../page-commands.ts'
import { ACTION } from '../workflows/written.ts'
import { FILES, type Project, project, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const PROJECT = { ...FILES, 'package.json': '{}\n', 'src/index.js': '' }
const GITHUB = ['init', '--github', '--action', ACTION] as const
const SETUP = '.github/actions/winnow-setup/action.yml'
const AGENTS = '.github/actions/winnow-agents/action.yml'

const read = (person: Project, path = WORKFLOW) => readFileSync(join(person.dir, path), 'utf8')
const second = SPEC.replace('winnow: 1', 'winnow: 1\nname: weight').replace('value', 'other')

/** github.com as git sees it, without the network: repositories of a directory. */
function githubIn(root: string): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.file://${root}/.insteadOf`,
    GIT_CONFIG_VALUE_0: 'https://github.com/',
  }
}

/** A repository that holds an action: its commits, the last with the tags. */
function actionAt(
  root: string,
  name: string,
  ...tags: string[]
): { commit: string; next: (tag: string) => string } {
  const user = userRepository({ dir: join(root, name) })
  const commit = user.commit('action', { 'action.yml': 'runs: {}\n' })
  for (const tag of tags) user.git('tag', '-m', tag, tag)
  return {
    commit,
    next(tag) {
      const later = user.commit(tag, { 'action.yml': `runs: { using: ${tag} }\n` })
      user.git('tag', tag)
      return later
    },
  }
}

describe('winnow init --github', () => {
  it('writes two files and says how they become one pull request; again, it has nothing to do', async () => {
    const person = project(PROJECT)
    const refs = person.refs()
    const { code, out, err } = await person.winnow(...GITHUB)
    expect([code, err]).toEqual([0, ''])
    const paths = [WORKFLOW, SETUP]
    expect(person.git('status', '--porcelain', '-uall').split('\n').toSorted()).toEqual(
      paths.map(path => `?? ${path}`).toSorted(),
    )
    for (const path of paths) expect(out).toContain(`Wrote ${path}\n`)
    expect(out).toContain('It runs somebody/winnow v1.2.3 (ab12ab12ab) for size.\n')
    expect(out).toContain(`git add ${paths.join(' ')}\n`)
    expect(out).toContain('tick "Allow GitHub Actions to create and approve pull requests"')
    expect(person.refs()).toBe(refs)
    expect(read(person)).toContain(`uses: ${ACTION}\n`)
    expect(isAsWritten(read(person))).toBe(true)
    expect((await person.winnow(...GITHUB)).out).toContain(
      'Nothing to do: the files are there and up to date',
    )
    expect((await person.winnow('init', '--github')).out).toContain('Nothing to do')
  })

  it('brings the file up to date for another campaign, without a question and with the action it has', async () => {
    const person = project(PROJECT)
    await person.winnow(...GITHUB)
    // Dependabot was there: a newer winnow, and a newer checkout.
    const newer = read(person)
      .replaceAll(ACTION, `somebody/winnow@${'cd34'.repeat(10)} # v1.3.0`)
      .replaceAll(/actions\/checkout@\S+ # \S+/g, `actions/checkout@${'ef56'.repeat(10)} # v99.0.0`)
    person.commit('set up, and updated', { [WORKFLOW]: newer })
    person.commit('a second campaign', {
      '.winnow/weight.yaml': `${second}execution: { runs_on: [self-hosted] }\n`,
    })
    const { code, out, err } = await person.winnow('init', '--github')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(
      `Updated ${WORKFLOW}\nIt runs somebody/winnow v1.3.0 (cd34cd34cd) for size, weight.\n`,
    )
    expect(read(person)).toContain('self-hosted')
    expect(read(person)).not.toContain(ACTION)
    expect(read(person)).not.toMatch(/actions\/checkout@(?!ef56)/)
    expect(isAsWritten(read(person))).toBe(true)
  })

  it('never overwrites what a person changed: the lines to add are a patch that keeps the changes', async () => {
    const person = project(PROJECT)
    await person.winnow(...GITHUB)
    person.commit('set up')
    const mine = read(person).replace('timeout-minutes: 20', 'timeout-minutes: 21')
    person.commit('by hand', { [WORKFLOW]: mine })
    expect((await person.winnow('init', '--github')).code).toBe(0)
    for (const [name, runner] of [
      ['weight', 'one'],
      ['height', 'two'],
    ]) {
      const spec = second.replace('name: weight', `name: ${name}`)
      person.commit(name ?? '', { [`.winnow/${name}.yaml`]: `${spec}execution: { runs_on: [${runner}] }\n` })
      const before = read(person)
      const { code, out, err } = await person.winnow('init', '--github')
      expect([code, read(person)]).toEqual([2, before])
      expect(err).toContain('was changed by hand')
      expect(err).toContain('winnow init --github | git apply')
      execFileSync('git', ['apply'], { cwd: person.dir, input: out })
      expect(read(person)).toContain('timeout-minutes: 21')
      expect(read(person)).toContain(String(runner))
      person.commit('applied')
      expect((await person.winnow('init', '--github')).code).toBe(0)
    }
  })

  releaseTest('says so where the changes of a person and the new lines are in the same place', async () => {
    const person = project(PROJECT)
    await person.winnow(...GITHUB)
    const mine = read(person).replace(/cron: .*/, "cron: '1 1 * * *'")
    person.commit('by hand', { [WORKFLOW]: mine, '.winnow/size.yaml': `${SPEC}schedule: hourly\n` })
    const { code, out, err } = await person.winnow('init', '--github')
    expect([code, read(person)]).toEqual([2, mine])
    expect(out).toContain("-    - cron: '1 1 * * *'")
    expect(err).toContain('apply the new parts by hand')
  })

  releaseTest(
    'leaves the set-up of the tool chain to its owner, and a workflow of somebody else alone',
    async () => {
      const person = project(PROJECT)
      await person.winnow(...GITHUB)
      person.write(SETUP, 'mine\n')
      expect((await person.winnow(...GITHUB)).code).toBe(0)
      expect(read(person, SETUP)).toBe('mine\n')
      person.write(WORKFLOW, 'on: push\njobs: {}\n')
      const { code, err } = await person.winnow(...GITHUB)
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('this file was not written by winnow init --github'),
      ])
      expect(read(person)).toBe('on: push\njobs: {}\n')
    },
  )

  releaseTest('writes a single job where that is wanted, and stays with it', async () => {
    const person = project(PROJECT)
    expect((await person.winnow(...GITHUB, '--single-job', '--dry-run')).out).toContain('command: run')
    expect(existsSync(join(person.dir, '.github'))).toBe(false)
    await person.winnow(...GITHUB, '--single-job')
    expect(read(person)).toContain('command: run')
    person.commit('a second campaign', { '.winnow/weight.yaml': `${second}schedule: hourly\n` })
    const { out } = await person.winnow('init', '--github')
    expect(out).toContain(`Updated ${WORKFLOW}`)
    expect(read(person)).toContain('command: run')
  })

  it('writes the job that attests where that is wanted, and stays with it, but not in a single job', async () => {
    const person = project(PROJECT)
    await person.winnow(...GITHUB, '--attest')
    expect(read(person)).toContain('id-token: write')
    person.commit('a second campaign', { '.winnow/weight.yaml': `${second}schedule: hourly\n` })
    expect((await person.winnow('init', '--github')).out).toContain(`Updated ${WORKFLOW}`)
    expect(read(person)).toContain('id-token: write')
    person.commit('the workflow', { [WORKFLOW]: read(person) })
    expect((await person.winnow('doctor', '--all')).out).toContain(`${WORKFLOW} is up to date`)
    const { code, err } = await person.winnow(...GITHUB, '--single-job')
    expect([code, err]).toEqual([2, expect.stringContaining('cannot attest')])
  })

  releaseTest('says where the key of a model belongs, where programs are to be asked', async () => {
    const asking = `${SPEC}propose: [{ use: command, preset: claude }]\n`
    const person = project({ ...PROJECT, '.winnow/size.yaml': asking })
    const { out } = await person.winnow(...GITHUB)
    expect(out).toContain(
      'New environment "winnow-models", for the branches main and optimize/*, with the key of your model as its secret WINNOW_MODEL_KEY',
    )
    expect(out).toContain(`Wrote ${AGENTS}`)
  })

  it('writes none for a spec that no job could carry out, and says by name what is not built', async () => {
    const frontier = `${SPEC}search: { frontier: argmax }\n`
    const person = project({ ...PROJECT, '.winnow/size.yaml': frontier })
    const { code, err } = await person.winnow(...GITHUB)
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('search.frontier argmax: this strategy is not built yet'),
    ])
    expect(existsSync(join(person.dir, '.github'))).toBe(false)
  })

  it.each(
    selectCases([
      [['init', '--github', '--action', 'somebody/winnow'], '--action is "somebody/winnow"'],
      [['init', '--github', '--action', `x/y@${'a'.repeat(40)}\nevil: true`], '--action is'],
      [['init', '--open-pr'], '--open-pr needs --github'],
      [['init', '--update'], '--update needs --github'],
      [['init', '--single-job'], '--single-job needs --github'],
      [['init', '--attest'], '--attest needs --github'],
      [['init', '--github', '--single-job', '--attest'], 'a single job cannot attest'],
      [['init', '--action', ACTION], '--action needs --github'],
      [
        ['init', '--github', '--open-pr', '--action', ACTION],
        'the remote of this repository is not on GitHub',
      ],
    ]),
  )('refuses %j', async (argv, expected) => {
    const person = project(PROJECT)
    const { code, err } = await person.winnow(...argv)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
    expect(existsSync(join(person.dir, '.github'))).toBe(false)
  })

  it('needs a spec', async () => {
    const { '.winnow/size.yaml': _spec, ...rest } = PROJECT
    const { code, err } = await project(rest).winnow(...GITHUB)
    expect([code, err]).toEqual([2, expect.stringContaining('there is no spec yet')])
  })
})

describe('the action that the workflow runs', () => {
  const pinOf = (person: Project) => /uses: (\S*winnow@.*)$/m.exec(read(person))?.[1]

  it('is the commit that a tag or a branch names now, with the whole version beside it for Dependabot', async () => {
    const root = scratch()
    const { commit, next } = actionAt(root, 'somebody/winnow', 'v1', 'v1.4.2')
    const env = githubIn(root)
    const person = project(PROJECT)
    const ask = (ref: string) =>
      person.winnowWith({ env }, 'init', '--github', '--action', `somebody/winnow@${ref}`)
    expect((await ask('v1')).err).toBe('')
    expect(pinOf(person)).toBe(`somebody/winnow@${commit} # v1.4.2`)
    const later = next('v1.5.0')
    expect((await ask('main')).code).toBe(0)
    expect(pinOf(person)).toBe(`somebody/winnow@${later} # v1.5.0`)
    expect(new Set(read(person).match(/uses: \S*winnow@.*/g)).size).toBe(1)
    expect((await ask(commit)).code).toBe(0)
    expect(pinOf(person)).toBe(`somebody/winnow@${commit} # v1.4.2`)
    const wrong = await ask('v7')
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('has no tag and no branch v7')])
    expect(wrong.err).toContain('it has v1.5.0, v1.4.2, v1, main')
    const nowhere = await person.winnowWith({ env }, 'init', '--github', '--action', 'nobody/winnow@v1')
    expect([nowhere.code, nowhere.err]).toEqual([
      2,
      expect.stringContaining('cannot look up v1 in https://github.com/nobody/winnow'),
    ])
  })

  it('is offered by init beside winnow run where the remote is on GitHub', async () => {
    const root = scratch()
    const person = project({ 'bench/size.sh': 'echo 1\n', 'src/a.txt': 'a\n' })
    execFileSync('git', ['clone', '-q', '--bare', person.dir, join(root, 'team/project')])
    person.git('remote', 'add', 'origin', 'https://github.com/team/project')
    const { out } = await person.winnowWith({ env: githubIn(root) }, 'init', '--no-check', '--name', 'other')
    expect(out).toContain(
      '  then one of:\n    winnow run                       on this machine\n    winnow init --github --open-pr   in GitHub Actions\n',
    )
  })

  releaseTest('is by itself the commit of the clone that winnow runs from, once GitHub has it', async () => {
    const root = scratch()
    actionAt(root, 'ada/winnow')
    const home = join(scratch(), 'clone')
    execFileSync('git', ['clone', '-q', join(root, 'ada/winnow'), home])
    const clone = userRepository({ dir: home })
    clone.git('remote', 'set-url', 'origin', 'git@github.com:ada/winnow')
    const env = {
      ...githubIn(root),
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_1: `url.file://${root}/.insteadOf`,
      GIT_CONFIG_VALUE_1: 'git@github.com:',
    }
    const person = project(PROJECT)
    const ask = (...more: string[]) => person.winnowWith({ env, home }, 'init', '--github', ...more)
    const local = clone.commit('not pushed', { 'action.yml': 'runs: { using: node24 }\n' })
    const { code, err } = await ask()
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`whose commit ${local.slice(0, 10)} is not on ada/winnow`),
    ])
    expect(err).toContain(`git -C ${home} push origin HEAD, and repeat`)
    clone.git('push', '-q', join(root, 'ada/winnow'), 'HEAD:refs/heads/next')
    expect((await ask()).err).toBe('')
    expect(pinOf(person)).toBe(`ada/winnow@${local} # next`)
    execFileSync('git', ['tag', 'v0.2.0', local], { cwd: join(root, 'ada/winnow') })
    expect((await ask()).out).toContain(
      'To have the action of the winnow that runs here: winnow init --github --update',
    )
    expect(pinOf(person)).toBe(`ada/winnow@${local} # next`)
    expect((await ask('--update')).out).toContain(`Updated ${WORKFLOW}\nIt runs ada/winnow v0.2.0`)
    expect(pinOf(person)).toBe(`ada/winnow@${local} # v0.2.0`)
    expect((await ask('--update')).out).toContain('Nothing to do')
    // Dependabot was faster.
    person.write(WORKFLOW, read(person).replaceAll(`${local} # v0.2.0`, `${'cd34'.repeat(10)} # v0.3.0`))
    const older = await ask('--update')
    expect([older.code, older.err]).toEqual([
      2,
      expect.stringContaining('the workflow runs winnow v0.3.0, and this is v0.2.0'),
    ])
  })

  it('is of the published version where winnow is installed as a package, and told how else where it is not', async () => {
    const root = scratch()
    const { commit } = actionAt(root, 'maker/winnow', 'v3.1.4')
    const env = githubIn(root)
    const person = project(PROJECT)
    // Inside the repository of somebody else, whose commit is none of winnow's.
    const home = join(person.dir, 'node_modules/git-winnow')
    const installed = (manifest: object) => {
      mkdirSync(home, { recursive: true })
      writeFileSync(join(home, 'package.json'), JSON.stringify(manifest))
    }
    const ask = () => person.winnowWith({ env, home }, 'init', '--github')
    installed({ version: '3.1.4' })
    const { code, err } = await ask()
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('does not know which repository holds this winnow as an action'),
    ])
    expect(err).toContain('gh repo create winnow --public --source')
    expect(err).toContain('--action owner/winnow@<tag, branch or commit>')
    installed({ version: '3.2.0', repository: 'github:maker/winnow' })
    expect((await ask()).err).toContain('https://github.com/maker/winnow has no tag v3.2.0')
    installed({
      version: '3.1.4',
      repository: { type: 'git', url: 'git+https://github.com/maker/winnow.git' },
    })
    expect((await ask()).err).toBe('')
    expect(pinOf(person)).toBe(`maker/winnow@${commit} # v3.1.4`)
  })
})

describe('docs/github.md', () => {
  it('has commands that do what it says, one after the other', async () => {
    const bench = "console.log(JSON.stringify({ bytes: require('node:fs').statSync('src/index.js').size }))\n"
    const scripts = { test: 'node --check src/index.js', bench: 'node bench/size.cjs' }
    const manifest = JSON.stringify({ name: 'n', scripts })
    const person = project({ 'package.json': manifest, 'src/index.js': '', 'bench/size.cjs': bench })
    const typed = commandsOn('docs/github.md')
    expect(typed.length).toBeGreaterThan(1)
    const root = scratch()
    actionAt(root, 'owner/winnow', 'v1')
    for (const { command } of typed) {
      // What it opens on GitHub, test/github/open-pr.long.test.ts looks at.
      const [, ...argv] = command.replace(' --open-pr', '').split(' ')
      const rest = argv.includes('--github') ? ['--action', 'owner/winnow@v1'] : []
      const { code, err } = await person.winnowWith({ env: githubIn(root) }, ...argv, ...rest)
      expect([command, code, err]).toEqual([command, 0, err])
      person.commit(command)
    }
    expect(existsSync(join(person.dir, WORKFLOW))).toBe(true)
  })
})
