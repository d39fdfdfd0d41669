import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandsOn } from '../page-commands.ts'
import { ACTION } from '../workflows/written.ts'
import { FILES, project, SPEC } from './project.ts'

const PROJECT = { ...FILES, 'package.json': '{}\n', 'src/index.js': '' }
const GITHUB = ['init', '--github', '--action', ACTION] as const

describe('winnow init --github', () => {
  it('writes the files and says how they become one pull request; again, it has nothing to do', async () => {
    const person = project(PROJECT)
    const refs = person.refs()
    const { code, out, err } = await person.winnow(...GITHUB)
    expect([code, err]).toEqual([0, ''])
    const paths = [
      '.github/workflows/winnow.yml',
      '.github/workflows/winnow-measure.yml',
      '.github/workflows/winnow-wake.yml',
      '.github/actions/winnow-setup/action.yml',
    ]
    expect(person.git('status', '--porcelain', '-uall').split('\n').toSorted()).toEqual(
      paths.map(path => `?? ${path}`).toSorted(),
    )
    for (const path of paths) expect(out).toContain(`Wrote ${path}\n`)
    expect(out).toContain(`git add ${paths.join(' ')}\n`)
    expect(out).not.toContain('not built yet')
    expect(person.refs()).toBe(refs)
    const measuring = readFileSync(join(person.dir, '.github/workflows/winnow-measure.yml'), 'utf8')
    expect(measuring).toContain("inputs.campaign == 'size'")
    expect(measuring).toContain(`uses: ${ACTION}\n`)
    expect((await person.winnow(...GITHUB)).out).toBe('All files are there already; nothing was written.\n')
  })

  it('leaves the set-up of the tool chain to its owner, and every other change to a person', async () => {
    const person = project(PROJECT)
    await person.winnow(...GITHUB, '--comments')
    expect(existsSync(join(person.dir, '.github/workflows/winnow-comments.yml'))).toBe(true)
    person.write('.github/actions/winnow-setup/action.yml', 'mine\n')
    expect((await person.winnow(...GITHUB)).code).toBe(0)
    person.write('.github/workflows/winnow.yml', 'mine\n')
    const { code, err } = await person.winnow(...GITHUB)
    expect([code, err]).toEqual([2, expect.stringContaining('.github/workflows/winnow.yml exists already')])
    expect((await person.winnow(...GITHUB, '--dry-run')).out).toContain(
      '--- .github/workflows/winnow.yml\n# Written',
    )
  })

  it('calls the reusable workflows of that commit where short files are wanted', async () => {
    const person = project(PROJECT)
    expect((await person.winnow(...GITHUB, '--reusable')).code).toBe(0)
    const at = `@${'ab12'.repeat(10)} # v1.2.3\n`
    const read = (name: string) => readFileSync(join(person.dir, `.github/workflows/${name}.yml`), 'utf8')
    expect(read('winnow')).toContain(`uses: somebody/winnow/.github/workflows/reusable-tick.yml${at}`)
    expect(read('winnow-measure')).toContain(
      `uses: somebody/winnow/.github/workflows/reusable-measure.yml${at}`,
    )
    expect(read('winnow-measure')).toContain('run-name: ${{ inputs.order }}')
    person.write('.winnow/size.yaml', `${SPEC}execution: { services: { db: { image: "postgres:17" } } }\n`)
    const { code, err } = await person.winnow(...GITHUB, '--reusable', '--dry-run')
    expect([code, err]).toEqual([2, expect.stringContaining('takes no service containers')])
  })

  it('says where the key of a model belongs, where programs are to be asked', async () => {
    const asking = `${FILES['.winnow/size.yaml']}propose: [{ use: command, preset: claude }]\n`
    const person = project({ ...PROJECT, '.winnow/size.yaml': asking })
    const { out } = await person.winnow(...GITHUB)
    expect(out).toContain('secret WINNOW_MODEL_KEY of an environment winnow-models')
    expect(out).toContain('Wrote .github/actions/winnow-agents/action.yml')
  })

  it('writes none for a spec that no job could carry out, and says by name what is not built', async () => {
    const epochs = `${FILES['.winnow/size.yaml']}epochs: {}\n`
    const person = project({ ...PROJECT, '.winnow/size.yaml': epochs })
    const { code, err } = await person.winnow(...GITHUB)
    const said = 'epochs: epochs are not built yet'
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
    expect(existsSync(join(person.dir, '.github'))).toBe(false)
  })

  it.each([
    [['init', '--github'], 'which commit of the winnow action'],
    [['init', '--github', '--action', 'somebody/winnow@v1'], 'owner/repository@<the 40 digits'],
    [['init', '--github', '--action', `x/y@${'a'.repeat(40)}\nevil: true`], '--action is'],
    [['init', '--reusable'], '--reusable means nothing without --github'],
    [['init', '--comments'], '--comments means nothing without --github'],
    [['init', '--action', ACTION], '--action means nothing without --github'],
  ])('refuses %j', async (argv, expected) => {
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

describe('docs/github.md', () => {
  it('has commands that do what it says, one after the other', async () => {
    const bench = "console.log(JSON.stringify({ bytes: require('node:fs').statSync('src/index.js').size }))\n"
    const scripts = { test: 'node --check src/index.js', bench: 'node bench/size.cjs' }
    const manifest = JSON.stringify({ name: 'n', scripts })
    const person = project({ 'package.json': manifest, 'src/index.js': '', 'bench/size.cjs': bench })
    const typed = commandsOn('docs/github.md')
    expect(typed).toHaveLength(2)
    for (const { command } of typed) {
      const action = ACTION.replace(/ #.*/, '')
      const [, ...argv] = command.replace(/\S+@<40 digits>/, action).split(' ')
      const { code, err } = await person.winnow(...argv)
      expect([command, code, err]).toEqual([command, 0, err])
      person.commit(command)
    }
    expect(existsSync(join(person.dir, '.github/workflows/winnow.yml'))).toBe(true)
  })
})
