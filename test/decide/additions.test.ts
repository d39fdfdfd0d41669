import { describe, expect, it } from 'vitest'
import { findRefusedAddition, listUnlistedPackages } from '../../src/decide/packages.ts'
import { LEFT_PAD } from '../plan/an-addition.ts'

const rules = (given: object) => ({
  approved: [],
  approval: 'review' as const,
  approvers: 'write' as const,
  min_release_age_days: 7,
  allow_scripts: false,
  ...given,
})
const SCRIPTED = { ...LEFT_PAD, name: 'sharp', version: '0.34.0', scripts: true }

describe('packages that are added', () => {
  it('are approved by name in any version', () => {
    const older = { ...LEFT_PAD, version: '1.0.0' }
    expect(listUnlistedPackages({ approved: ['left-pad'] }, [LEFT_PAD, older, SCRIPTED, SCRIPTED])).toEqual([
      'sharp',
    ])
  })

  it.each([
    ['package.json', 'registry'],
    ['package.json', 'registry, installed as pad'],
    ['package-lock.json', 'https://registry.example.org/npm/, installed as pad'],
    ['uv.lock', 'https://pypi.org/simple'],
    ['Cargo.lock', 'https://github.com/rust-lang/crates.io-index'],
    ['Pipfile.lock', 'pypi'],
  ])('are approved by their name where %s has them from %s', (path, source) => {
    expect(listUnlistedPackages({ approved: ['left-pad'] }, [{ ...LEFT_PAD, path, source }])).toEqual([])
  })

  it('are approved by their name where a lockfile of composer names their archive', () => {
    const source = 'zip https://api.example.org/a/b/zipball/0 or git https://example.org/a/b.git'
    const archived = { ...LEFT_PAD, ecosystem: 'packagist', path: 'composer.lock', source }
    expect(listUnlistedPackages({ approved: ['left-pad'] }, [archived])).toEqual([])
  })

  it.each([
    ['package.json', 'https://evil.example/left-pad/'],
    ['package.json', 'git+ssh://git@evil.example/x.git'],
    ['package.json', 'somebody/left-pad'],
    ['package.json', 'file:../left-pad'],
    ['package-lock.json', 'https://evil.example/other.tgz'],
    ['package-lock.json', 'git+https://evil.example/x.git#0123'],
    ['package-lock.json', 'path ../left-pad'],
    ['requirements.txt', 'https://evil.example/left_pad-1.0.tar.gz'],
    ['uv.lock', 'git https://evil.example/x'],
    ['Cargo.lock', 'git+https://evil.example/x#0123'],
    ['Gemfile.lock', 'path vendor/left-pad'],
  ])('need an approval when %s has them from %s', (path, source) => {
    expect(listUnlistedPackages({ approved: ['left-pad'] }, [{ ...LEFT_PAD, path, source }])).toEqual([
      'left-pad',
    ])
  })

  it('can be requested', () => {
    expect(findRefusedAddition(rules({}), [LEFT_PAD])).toBeNull()
  })

  it('are refused when the spec says deny, unless it names them', () => {
    const deny = rules({ approval: 'deny' })
    expect(findRefusedAddition(deny, [LEFT_PAD])?.message).toBe(
      'adds left-pad 1.3.0 (npm), and dependencies.approval is deny',
    )
    expect(findRefusedAddition({ ...deny, approved: ['left-pad'] }, [LEFT_PAD])).toBeNull()
  })

  it('are refused when they run install scripts, unless the spec allows that or names them', () => {
    expect(findRefusedAddition(rules({}), [LEFT_PAD, SCRIPTED])?.message).toMatch(
      /^adds sharp 0\.34\.0 \(npm\), which runs install scripts/,
    )
    expect(findRefusedAddition(rules({ allow_scripts: true }), [SCRIPTED])).toBeNull()
    expect(findRefusedAddition(rules({ approved: ['sharp'] }), [SCRIPTED])).toBeNull()
  })

  it('need an approval when a file does not state install scripts', () => {
    expect(findRefusedAddition(rules({}), [{ ...LEFT_PAD, scripts: null }])).toBeNull()
  })
})
