import { describe, expect, it } from 'vitest'
import { detectProject } from '../../src/init/detect.ts'
import { commandsIn, found, toRepository } from './a-project.ts'

describe('a Ruby project', () => {
  it('installs into its own directory from the lock file', () => {
    const files = { Gemfile: 'gem "rspec"\n', 'Gemfile.lock': '', 'lib/pk.rb': '', 'spec/pk_spec.rb': '' }
    expect(commandsIn(files)).toEqual({
      setup: 'bundle config set --local path vendor/bundle && BUNDLE_FROZEN=true bundle install --quiet',
      test: 'bundle exec rspec',
      bench: null,
    })
  })

  it('uses the tasks of its Rakefile', () => {
    const files = { Rakefile: 'Rake::TestTask.new\ntask :bench do\nend\n', 'lib/pk.rb': '' }
    expect(commandsIn(files)).toEqual({ setup: null, test: 'rake test', bench: 'rake bench' })
  })

  it('without tasks runs its test and benchmark files', () => {
    const source = 'puts JSON.generate({ ops: 1 })\n'
    const files = { 'lib/pk.rb': '', 'test/pk_test.rb': '', 'bench/run.rb': source }
    expect(commandsIn(files).test).toContain('test/**/{*_test,test_*}.rb')
    expect(found(files)).toMatchObject({
      bench: { command: 'ruby -Ilib bench/run.rb', metric: { name: 'ops', direction: 'maximize' } },
      entry: { kind: 'module', path: 'pk' },
    })
  })
})

describe('shell scripts', () => {
  it('are a project if there is no other language', () => {
    expect(
      found({
        'greet.sh': '',
        'test.sh': '',
        'bench/size.sh': 'echo "{\\"bytes\\": $(wc -c < greet.sh)}"\n',
      }),
    ).toMatchObject({
      language: 'shell',
      test: { command: 'sh test.sh' },
      bench: { command: 'sh bench/size.sh', metric: { name: 'bytes' } },
      mutable: ['greet.sh'],
    })
  })

  it('are ignored next to another language', () => {
    expect(found({ 'package.json': '{}', 'index.js': '', 'release.sh': '' }).language).toBe('node')
  })
})

describe('several languages in one directory', () => {
  const FILES = {
    'package.json': {},
    'a.js': '',
    'b.js': '',
    'Cargo.toml': '[package]\nname = "a"\n',
    'src/lib.rs': '',
    'benches/a.rs': '',
  }

  it('are reported, and the one with a benchmark is chosen', () => {
    const { findings, others } = detectProject(toRepository(FILES), undefined)
    expect([findings.language, others]).toEqual(['rust', ['node']])
  })

  it('can be chosen by name', () => {
    expect(detectProject(toRepository(FILES), 'node').findings.language).toBe('node')
    expect(() => detectProject(toRepository(FILES), 'go')).toThrow(
      'no go project was found here; found: node, rust',
    )
  })

  it('are an error if there is none', () => {
    expect(() => detectProject(toRepository({ 'photo.svg': '' }), undefined)).toThrow(
      'init found no committed project in a language that it knows here',
    )
  })
})
