import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

describe('Gemfile', () => {
  const base = fixture('rubygems/Gemfile')

  test.each([
    ['gem "evil"', 'evil * registry'],
    ["gem 'evil', '~> 1.0', '>= 1.0.2'", 'evil ~> 1.0, >= 1.0.2 registry'],
    ['gem "evil", "1.0", require: false # why', 'evil 1.0 (require false) registry'],
    [
      'gem "evil", git: "https://example.org/e.git", tag: "v1"',
      'evil * git https://example.org/e.git, tag v1',
    ],
    ['gem "evil", :github => "user/evil"', 'evil * github user/evil'],
    ['gem "evil", source: "https://example.org"', 'evil * source https://example.org'],
    [
      'gem "evil", platforms: %i[ mri windows ], group: [:a, :b]',
      'evil * (platforms %i[ mri windows ], group [:a, :b]) registry',
    ],
    ['gem "evil",\n  "1.0"', 'evil 1.0 registry'],
    ['source "https://example.org" do\nend', undefined],
  ])('%s', (line, addition) => {
    const candidate = `${base}\n${line}\n`
    if (addition === undefined) expect(faultOf('Gemfile', base, candidate)).toContain('changes the program')
    else expect(additionsOf('Gemfile', base, candidate)).toEqual([addition])
  })

  test('another version is an addition, a missing line a removal', () => {
    expect(additionsOf('Gemfile', base, base.replace('~> 1.4', '~> 1.5'))).toEqual(['debug ~> 1.5 registry'])
    expect(changeOf('Gemfile', base, base.replace(/gem "debug".*\n/, ''))).toMatchObject({
      additions: [],
      removals: 1,
      faults: [],
    })
  })

  test('a gem moved to another source is an addition', () => {
    const block = `${base}\nsource "https://example.org" do\n  gem "own", "1.0"\nend\n`
    const moved = block
      .replace('gem "debug", "~> 1.4"\n', '')
      .replace('gem "own"', 'gem "debug", "~> 1.4"\n  gem "own"')
    expect(additionsOf('Gemfile', block, moved)).toEqual(['debug ~> 1.4 source "https://example.org" do'])
  })

  test.each([
    'system("evil")',
    'gem "evil", `id`',
    'gem "evil", "#{system(1)}"',
    'gem "evil", ENV["X"]',
    'gem "evil" if evil',
    'gem("evil") { evil }',
    'gem "evil"; evil',
    '# a comment',
    'ruby "3.0"',
    'plugin "evil"',
    'eval_gemfile "evil"',
  ])('%s is a change of the program', line => {
    expect(faultOf('Gemfile', base, `${base}\n${line}\n`)).toBe(
      'changes the program: only dependencies may change in this file',
    )
  })

  test.each(['x = <<~TEXT\nTEXT\n', '=begin\n=end\n', '__END__\n', 'x = %q(\n)\n'])(
    'with %j every line belongs to the program',
    more => {
      const odd = base + more
      expect(faultOf('Gemfile', odd, odd.replace('gem "debug"', 'gem "evil"\ngem "debug"'))).toContain(
        'the program',
      )
    },
  )
})

describe('Gemfile.lock, as bundler writes it', () => {
  const lock = fixture('rubygems/Gemfile.lock')

  test('has every gem and bundler itself', () => {
    expect(additionsOf('Gemfile.lock', null, lock)).toEqual([
      'bundler 2.3.15 registry',
      'debug 1.4.0 https://rubygems.org/',
      'io-console 0.5.11 https://rubygems.org/',
      'irb 1.4.1 https://rubygems.org/',
      'local 0.1.0 path local',
      'minitest 5.15.0 https://rubygems.org/',
      'reline 0.3.0 https://rubygems.org/',
    ])
    const { additions } = changeOf('Gemfile.lock', null, lock)
    expect(additions.filter(each => each.direct).map(({ name }) => name)).toEqual([
      'local',
      'debug',
      'minitest',
    ])
  })

  test.each([
    ['debug (1.4.0)', 'debug (1.4.1)', ['debug 1.4.1 https://rubygems.org/']],
    [
      '    minitest (5.15.0)\n',
      '    minitest (5.15.0)\n    minitest (5.15.0-java)\n',
      ['minitest 5.15.0-java https://rubygems.org/'],
    ],
    ['2.3.15', '9.0.0', ['bundler 9.0.0 registry']],
    [
      'PATH\n  remote: local',
      'GIT\n  remote: https://example.org/l\n  revision: abc\n  branch: main',
      ['local 0.1.0 git https://example.org/l, revision abc, branch main'],
    ],
    ['  remote: local', '  remote: ../local', ['local 0.1.0 path ../local']],
  ])('%j made %j', (from, to, added) => {
    expect(additionsOf('Gemfile.lock', lock, lock.replace(from, to))).toEqual(added)
  })

  test('another source makes all its gems additions', () => {
    expect(
      additionsOf('Gemfile.lock', lock, lock.replace('https://rubygems.org/', 'https://example.org/')),
    ).toHaveLength(5)
  })

  test('checksums become the integrity', () => {
    const sums = (sum: string) => `${lock}\nCHECKSUMS\n  debug (1.4.0) sha256=${sum}\n  local (0.1.0)\n`
    expect(changeOf('Gemfile.lock', sums('aa'), sums('bb')).additions).toMatchObject([
      { name: 'debug', integrity: 'sha256=bb' },
    ])
    expect(additionsOf('Gemfile.lock', sums('aa'), lock)).toEqual(['debug 1.4.0 https://rubygems.org/'])
  })

  test.each([
    ['a conflict', `<<<<<<< HEAD\n${lock}`, 'a line that bundler does not write'],
    ['a spec of no version', lock.replace('debug (1.4.0)', 'debug'), 'a line that bundler does not write'],
    ['a plugin', `${lock}\nPLUGIN SOURCE\n  remote: x\n`, 'changes PLUGIN SOURCE'],
    ['another ruby', `${lock}\nRUBY VERSION\n   ruby 3.1.2p20\n`, 'changes RUBY VERSION'],
  ])('%s cannot be approved', (_, candidate, why) => {
    expect(faultOf('Gemfile.lock', lock, candidate)).toContain(why)
  })
})
