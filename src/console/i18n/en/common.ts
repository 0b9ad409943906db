import type { ErrorCode } from '../../../client/index.ts';

/** The texts of the frame around all pages, and those that pages share. */
export const common = {
  shell: {
    title: 'Analytics console',
    menu: 'Menu',
    skip: 'Skip to the content',
    apps: 'Apps',
    keys: 'API keys',
    usage: 'Usage',
    members: 'Members',
    audit: 'Audit',
    reference: 'API reference',
    language: 'Language',
    scheme: 'Colours',
    light: 'Light',
    dark: 'Dark',
    auto: 'As the system',
    account: 'Account',
    accountId: 'The id of the account',
    signOut: 'Sign out',
    owner: 'Owner',
    viewer: 'Viewer',
    byLink: 'Signed in by link',
    notFound: 'There is no such page',
    notFoundText: 'The address may be mistyped, or the page may have moved.',
    toApps: 'To the apps',
  },
  states: {
    loading: 'Loading',
    retry: 'Try again',
    failed: 'This could not be loaded',
    unreachable: 'The service does not answer. Check the network, then try again.',
    requestId: (id: string) => `Quote this id when you ask for help: ${id}`,
    noAccess: 'No access',
    noAccessText: 'Your account cannot see this app. Ask its owner to share it with your account.',
    viewer: 'You see everything here, and change nothing: you are a viewer.',
    viewerCannot: 'A viewer cannot change anything. Ask an owner of the account.',
    notLoaded:
      'The service did not answer while this page was loaded. It is loaded by itself as soon as the service is back.',
    broken: 'This page stopped working',
    brokenText: 'Load it again. If it stops again, tell the people who run this service.',
    reload: 'Load again',
  },
  actions: {
    copy: 'Copy',
    copied: 'Copied',
    cancel: 'Cancel',
    close: 'Close',
    done: 'Done',
    monthBefore: 'The month before',
    monthAfter: 'The month after',
  },
  /** Instead of the service's own words, where a language has others. By the code of the error. */
  problems: {} as Readonly<Partial<Record<ErrorCode, string>>>,
  /**
   * Instead of the service's own words about a wrong field, where a language has others. By the service's sentence, or
   * else by the name of the field.
   */
  fieldProblems: {
    'The person is a member with another role: change the role first.':
      'This person is a member with another role. Change the role in the list of members first.',
  } as Readonly<Record<string, string>>,
  time: {
    never: 'Never',
  },
};
