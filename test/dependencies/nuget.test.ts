import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

describe.each(['App.csproj', 'src/App.fsproj', 'Directory.Packages.props', 'Directory.Build.props'])(
  '%s',
  path => {
    const base = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Acme.Sum" Version="1.4.0" />
  </ItemGroup>
</Project>
`
    const withItem = (item: string) => base.replace('</Project>', `<ItemGroup>${item}</ItemGroup></Project>`)

    test.each([
      ['<PackageReference Include="Evil" Version="1" />', 'Evil 1 registry'],
      ['<PackageReference Include="Evil"><Version>1</Version></PackageReference>', 'Evil 1 registry'],
      ['<PackageReference Include="Evil" VersionOverride="2" />', 'Evil * (VersionOverride 2) registry'],
      ['<PackageVersion Include="Evil" Version="1" />', 'Evil 1 (PackageVersion) registry'],
      ['<GlobalPackageReference Include="Evil" Version="1" />', 'Evil 1 (GlobalPackageReference) registry'],
      [
        '<PackageReference Update="Evil" Version="1" PrivateAssets="all" />',
        'Evil 1 (PrivateAssets all) registry',
      ],
    ])('%s is an addition', (item, addition) => {
      expect(additionsOf(path, base, withItem(item))).toEqual([addition])
    })

    test.each([
      ['PropertyGroup', base.replace('net8.0', 'net9.0')],
      ['Target', base.replace('</Project>', '<Target Name="a"><Exec Command="evil" /></Target></Project>')],
      ['Import', base.replace('</Project>', '<Import Project="evil.targets" /></Project>')],
      ['ItemGroup', withItem('<ProjectReference Include="../Evil.csproj" />')],
      ['ItemGroup', withItem('<packagereference Include="Evil" />')],
      ['Project', base.replace('Microsoft.NET.Sdk', 'Evil.Sdk')],
    ])('a changed %s is out of scope', (place, candidate) => {
      expect(faultOf(path, base, candidate)).toContain(`changes ${place}: only dependencies`)
    })

    test.each([
      ['two names in one', withItem('<PackageReference Include="A;B" Version="1" />'), 'names a package'],
      ['no name', withItem('<PackageReference Version="1" />'), 'without Include'],
      [
        'a version twice',
        withItem('<PackageReference Include="A" Version="1"><Version>2</Version></PackageReference>'),
        'twice',
      ],
      ['an attribute twice', withItem('<PackageReference Include="A" Include="B" />'), 'is no XML'],
    ])('%s cannot be approved', (_, candidate, why) => {
      expect(faultOf(path, base, candidate)).toContain(why)
    })
  },
)

describe('packages.lock.json', () => {
  const lock = fixture('nuget/packages.lock.json')

  test('has every fetched package', () => {
    expect(additionsOf('packages.lock.json', null, lock)).toEqual([
      'Acme.Sum 1.4.0 registry',
      'Acme.Tiny 0.1.2 registry',
    ])
    expect(changeOf('packages.lock.json', null, lock).additions.map(({ direct }) => direct)).toEqual([
      true,
      false,
    ])
  })

  test.each([
    ['AAAA1111', 'EEEE1111', 'Acme.Sum 1.4.0 registry'],
    ['"resolved": "0.1.2"', '"resolved": "0.1.3"', 'Acme.Tiny 0.1.3 registry'],
  ])('%s made %s is another package', (from, to, addition) => {
    expect(additionsOf('packages.lock.json', lock, lock.replace(from, to))).toEqual([addition])
  })

  test.each([
    ['"Direct"', '"Evil"'],
    ['"version": 1', '"version": 9'],
  ])('%s made %s cannot be approved', (from, to) => {
    expect(faultOf('packages.lock.json', lock, lock.replace(from, to))).toContain('cannot be read')
  })
})
