#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs rdma-core's tests with the two players of a test in two processes on two hosts.

    pyverbs_two_hosts.py TESTS [--hosts H1 H2] [--only REGEX]

TESTS is the folder of rdma-core's tests, which are not changed. A test makes two players (objects
with a context, memory, queue pairs) and moves data between them. Here it runs in a process that
has no device; in front of it, in place of pyverbs' classes, are classes that make objects in
other processes, the agents, one on each host. The first player is made by the agent on the first
host, the next by the other. What a test does with a player or with a part of it (`server.qp`) is
asked of its agent. Functions of the tests that are given things of one agent only run there as a
whole; those that are given both players run here. What belongs to no player, such as a work
request that is to be filled in, is made by both agents, and each uses its own.

The tests send to the address of their own port, as both players have the same one. So an agent
puts the other host's address where its own is given as the destination.

The tests of rdma_cm make two processes themselves; here, each agent makes one of them.

A test has crossed when it succeeded, had its players on both hosts, and the packets that each
host received (by weft status) are no fewer than the messages that the other one sent.
"""
import argparse
import collections
import enum
import functools
import gc
import importlib
import io
import json
import multiprocessing
import os
import pickle
import re
import socket
import struct
import subprocess
import sys
import time
import traceback
import types
import unittest

PLAIN = (int, float, complex, bool, str, bytes, type(None), list, tuple, dict, set, slice)
WC_RECV = 128
WC_SENT = (0, 1, 2, 3, 4, 9)  # SEND, RDMA_WRITE, RDMA_READ, COMP_SWAP, FETCH_ADD, ATOMIC_WRITE
# What needs both sides in one process.
WHOLE = {'SharedPDTestCase': 'it gives a descriptor of one context to another one'}
MESSAGES = 10  # that a test of rdma_cm sends
PATIENCE = 300  # seconds, for what must happen on a machine that has much else to do


# What both ends share: messages, and finding the tests.

def send_bytes(sock, data):
    sock.sendall(struct.pack('!Q', len(data)) + data)


def recv_exactly(sock, n):
    data = bytearray()
    while len(data) < n:
        piece = sock.recv(n - len(data))
        if not piece:
            raise EOFError('the other process has ended')
        data += piece
    return bytes(data)


def recv_bytes(sock):
    return recv_exactly(sock, struct.unpack('!Q', recv_exactly(sock, 8))[0])


def find_tests(folder):
    """Makes `tests` a package without its __init__, which would load the vendors' tests."""
    sys.path.insert(0, folder)
    package = types.ModuleType('tests')
    package.__path__ = [folder]
    sys.modules['tests'] = package
    sys.argv[1:] = []
    importlib.import_module('args_parser').parser.parse_args()


def by_name(module, name):
    found = importlib.import_module(module)
    for part in name.split('.'):
        found = getattr(found, part)
    return found


# An agent: has the device, and does what it is asked.

class Agent:
    def __init__(self, sock):
        self.sock = sock
        self.objects = {}
        self.sent = self.received = 0
        self.flow = self.pipe = self.code = None

    def keep(self, obj):
        self.objects[id(obj)] = obj
        return id(obj)

    def dumps(self, value):
        agent, out = self, io.BytesIO()

        class Pickler(pickle.Pickler):
            def persistent_id(self, obj):
                if isinstance(obj, int) and type(obj) not in (int, bool):
                    return ('value', int(obj))
                if type(obj) in PLAIN or isinstance(obj, (BaseException, types.FunctionType)):
                    return None
                if isinstance(obj, type) and '<locals>' not in obj.__qualname__:
                    return None
                mro = obj.__mro__ if isinstance(obj, type) else type(obj).__mro__
                names = tuple((c.__module__, c.__qualname__) for c in mro)
                return ('object', agent.keep(obj), names, isinstance(obj, type))

        Pickler(out).dump(value)
        return out.getvalue()

    def loads(self, data):
        agent = self

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, pid):
                if pid[0] == 'object':
                    return agent.objects[pid[1]]
                return by_name(*pid[1:]) if pid[0] == 'name' else pid[1]

        return Unpickler(io.BytesIO(data)).load()

    # What it may be asked.

    def call(self, function, args, kwargs):
        return function(*args, **kwargs)

    def method(self, obj, name, args, kwargs):
        return getattr(obj, name)(*args, **kwargs)

    def get(self, obj, name):
        value = getattr(obj, name)
        is_method = callable(value) and not isinstance(value, type) and \
            not hasattr(type(value), '__slots__') and hasattr(value, '__self__')
        return ('method', None) if is_method else ('value', value)

    def set(self, obj, name, value):
        setattr(obj, name, value)

    def reset(self):
        """Forgets all objects; returns how many messages were sent and received."""
        for obj in list(self.objects.values()):
            if type(obj).__name__ == 'Context':
                obj.close()
        self.objects.clear()
        gc.collect()
        counts, self.sent, self.received = (self.sent, self.received), 0, 0
        return counts

    def ports(self, number):
        """The addresses of the port: its LID, and its GIDs."""
        device = importlib.import_module('pyverbs.device')
        with device.Context(name=device.get_device_list()[0].name.decode()) as ctx:
            attr = ctx.query_port(number)
            gids = [str(ctx.query_gid(number, i)) for i in range(attr.gid_tbl_len)]
            return attr.lid, [gid for gid in gids if not gid.endswith(':0000:0000:0000:0000')]

    def redirect(self, own, peer):
        """From now on, what is sent to the own port goes to the peer's."""
        addr = importlib.import_module('pyverbs.addr')
        gids = dict(zip(own[1], peer[1]))

        class GlobalRoute(addr.GlobalRoute):
            def __init__(self, dgid=None, **kwargs):
                if dgid is not None:
                    dgid = addr.GID(gids.get(str(dgid), str(dgid)))
                super().__init__(dgid=dgid, **kwargs)

        class AHAttr(addr.AHAttr):
            def __init__(self, dlid=0, **kwargs):
                super().__init__(dlid=peer[0] if dlid == own[0] else dlid, **kwargs)

        for module in [m for n, m in sys.modules.items() if n.startswith('tests.')]:
            for name, new in (('GlobalRoute', GlobalRoute), ('AHAttr', AHAttr)):
                if hasattr(module, name):
                    setattr(module, name, new)

    def set_key(self, key):
        multiprocessing.current_process().authkey = key

    def start_flow(self, case, flow, own, other, passive, shared, kwargs):
        """Starts a side of a test of rdma_cm in a process of its own."""
        address = importlib.import_module('pyverbs.cmid').AddrInfo

        def addr_info(src=None, **more):
            return address(src=own if src == other else src, **more)

        for name in ('tests.base_rdmacm', 'tests.rdmacm_utils'):
            sys.modules[name].AddrInfo = addr_info
        test = case('rdmacm_traffic')
        test.syncer, test.notifier = shared
        test.ip_addr = own if passive else other
        self.pipe, pipe = multiprocessing.Pipe()

        def run():
            code = 0
            try:
                getattr(test, flow)(passive=passive, **kwargs)
            except SystemExit as ex:
                code = ex.code
            pipe.send(code)
            pipe.recv()  # It stays until its packets were seen: what ends may take some along.

        self.flow = multiprocessing.get_context('fork').Process(target=run)
        self.flow.start()
        pipe.close()

    def flow_code(self):
        """What became of what was started, or None while it goes on."""
        if self.code is None and self.pipe.poll(0.05):
            try:
                self.code = self.pipe.recv()
            except EOFError:
                self.code = -1
        return self.code

    def end_flow(self):
        self.flow.kill()
        self.flow.join()
        self.flow = self.pipe = self.code = None

    def note(self, opcode):
        self.sent += opcode in WC_SENT
        self.received += opcode & WC_RECV != 0

    def count(self):
        """Counts the messages that the tests see complete."""
        utils, agent = sys.modules['tests.utils'], self
        plain, extended = utils._poll_cq, utils.poll_cq_ex

        class Counted:
            def __init__(self, cq):
                self.cq = cq

            def __getattr__(self, name):
                return getattr(self.cq, name)

            def noted(self, ret):
                if ret == 0 and self.cq.status == 0:
                    agent.note(self.cq.read_opcode())
                return ret

            def start_poll(self, attr):
                return self.noted(self.cq.start_poll(attr))

            def poll_next(self):
                return self.noted(self.cq.poll_next())

        def _poll_cq(*args, **kwargs):
            wcs = plain(*args, **kwargs)
            for wc in wcs:
                if wc.status == 0:
                    agent.note(wc.opcode)
            return wcs

        def poll_cq_ex(cqex, *args, **kwargs):
            return extended(Counted(cqex), *args, **kwargs)

        utils._poll_cq, utils.poll_cq_ex = _poll_cq, poll_cq_ex

    def serve(self):
        while True:
            try:
                what, args = self.loads(recv_bytes(self.sock))
            except EOFError:
                return
            try:
                reply = self.dumps((True, getattr(self, what)(*args)))
            except Exception as ex:
                ex.add_note('on ' + os.environ['WEFT_HOST'] + ': ' + traceback.format_exc())
                try:
                    reply = self.dumps((False, ex))
                    pickle.loads(reply)
                except Exception:
                    reply = self.dumps((False, RuntimeError(traceback.format_exc())))
            send_bytes(self.sock, reply)


def be_agent(folder, fd, modules):
    find_tests(folder)
    agent = Agent(socket.socket(fileno=fd))
    importlib.import_module('tests.utils')
    agent.count()
    for module in modules:
        importlib.import_module(module)
    agent.serve()


# The process of the tests: objects that stand for those of agents.

class NotSplit(Exception):
    """It needs things of both sides in one process."""


class Remote:
    """An agent, as it is seen from here."""

    def __init__(self, weft, host, folder, modules):
        self.host = host
        self.sock, other = socket.socketpair()
        self.process = subprocess.Popen(
            [weft, 'exec', '--host', host, '--', sys.executable, '-B', __file__, folder,
             '--agent', str(other.fileno()), *modules], pass_fds=[other.fileno()])
        other.close()
        self.seen = None

    def where(self):
        """The host that it is on, as the fabric sees its device, which is open."""
        if self.seen is None:
            self.seen = next(h['name'] for h in status()['hosts']
                             if self.process.pid in [p['pid'] for p in h['programs']])
        return self.seen

    def ask(self, what, *args):
        remote, out = self, io.BytesIO()

        class Pickler(pickle.Pickler):
            def persistent_id(self, obj):
                if isinstance(obj, Stand):
                    return ('object', obj._ids[remote])
                if isinstance(obj, (Fake, FakeFunction)):
                    return ('name', obj._module, obj._name)
                if isinstance(obj, enum.Enum):
                    return ('value', obj.value)
                return None

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, pid):
                if pid[0] == 'object':
                    return Stand({remote: pid[1]}, pid[2], pid[3])
                return pid[1]

        Pickler(out).dump((what, args))
        send_bytes(self.sock, out.getvalue())
        good, value = Unpickler(io.BytesIO(recv_bytes(self.sock))).load()
        if not good:
            raise value
        return value


agents = []  # of the two hosts
players = []  # the hosts of those that a test has made


def agents_of(*values):
    """Those that have everything that is in the values; None where nothing belongs to any."""
    found = None
    for value in values:
        if type(value) is Stand:
            these = set(value._ids)
        elif isinstance(value, (list, tuple, set)):
            these = agents_of(*value)
        elif isinstance(value, dict):
            these = agents_of(*value.values())
        else:
            continue
        if these is not None:
            found = these if found is None else found & these
    return found


def combine(values):
    """What several agents answered, as one value."""
    first, *others = values.values()
    if not others:
        return first
    if all(type(v) is Stand for v in values.values()):
        ids = {agent: i for v in values.values() for agent, i in v._ids.items()}
        return Stand(ids, first._names, first._is_class)
    if isinstance(first, (list, tuple)) and all(len(v) == len(first) for v in others):
        parts = [dict(zip(values, part)) for part in zip(*values.values())]
        return type(first)(combine(part) for part in parts)
    if all(v == first for v in others):
        return first
    ids = {agent: agent.ask('keep', v) for agent, v in values.items()}  # such as addresses
    return Stand(ids, (('builtins', type(first).__name__),), False)


def invoke(function, args, kwargs, default=None):
    """Calls it where its arguments are."""
    where = agents_of(function, args, kwargs)
    if where is None:
        where = agents if default is None else default
    if not where:
        raise NotSplit('it takes things of both sides')
    values = {agent: agent.ask('call', function, args, kwargs) for agent in where}
    return combine(values)


def place(cls, args, kwargs):
    """Makes a player: the first on the first host, the next on the other."""
    where = agents_of(args, kwargs) or {agents[len(players) % 2]}
    agent, = where
    made = agent.ask('call', cls, args, kwargs)
    players.append(agent.where())
    return made


class Stand:
    """Stands for an object of an agent, or for one of each."""
    __slots__ = ('_ids', '_names', '_is_class')

    def __init__(self, ids, names, is_class):
        for name, value in zip(self.__slots__, (ids, names, is_class)):
            object.__setattr__(self, name, value)

    @property
    def __class__(self):
        for module, name in self._names:
            if module.startswith('tests.') and '<locals>' not in name and not self._is_class:
                return by_name(module, name)
        return Stand

    def _only(self, where):
        """What belongs to nobody becomes an agent's when it is given something of that agent."""
        if where is not None:
            for agent in list(self._ids):
                if agent not in where:
                    del self._ids[agent]
            if not self._ids:
                raise NotSplit('it takes things of both sides')

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        values = {agent: agent.ask('get', self, name) for agent in self._ids}
        if all(kind == 'method' for kind, _ in values.values()):
            return functools.partial(self._method, name)
        return combine({agent: value for agent, (_, value) in values.items()})

    def __setattr__(self, name, value):
        self._only(agents_of(value))
        for agent in self._ids:
            agent.ask('set', self, name, value)

    def _method(self, name, *args, **kwargs):
        self._only(agents_of(args, kwargs))
        values = {agent: agent.ask('method', self, name, args, kwargs) for agent in self._ids}
        return combine(values)

    def __call__(self, *args, **kwargs):
        if self._is_class and ('tests.base', 'BaseResources') in self._names:
            return place(self, args, kwargs)
        return invoke(self, args, kwargs)

    def __enter__(self):
        self._method('__enter__')
        return self

    def __exit__(self, *_):
        self._method('__exit__', None, None, None)

    def __getitem__(self, key):
        return self._method('__getitem__', key)


class Fake(type):
    """The class of classes that stand for pyverbs'."""

    def __call__(cls, *args, **kwargs):
        # Devices are opened by the players; the tests ask theirs only what both would answer.
        default = agents[:1] if cls._module == 'pyverbs.device' else None
        return invoke(cls, args, kwargs, default)

    def __instancecheck__(cls, obj):
        return type(obj) is Stand and (cls._module, cls._name) in obj._names


class FakeFunction:
    """Stands for a function of pyverbs."""

    def __init__(self, module, name):
        self._module, self._name = module, name

    def __call__(self, *args, **kwargs):
        default = agents[:1] if self._module == 'pyverbs.device' else None
        return invoke(self, args, kwargs, default)


def fake_pyverbs():
    """Puts stands in the place of all classes and functions of pyverbs that touch a device."""
    importlib.import_module('pyverbs.pyverbs_error')
    folder, = importlib.import_module('pyverbs').__path__
    names = [os.path.relpath(os.path.join(at, f), folder).split('.')[0].replace('/', '.')
             for at, _, files in os.walk(folder) for f in files if f.endswith('.so')]
    real = {name: importlib.import_module('pyverbs.' + name) for name in sorted(names)
            if not name.endswith('enums')}
    for name, module in real.items():
        fake = types.ModuleType(module.__name__)
        for attr, value in vars(module).items():
            if isinstance(value, type) and not issubclass(value, (BaseException, enum.Enum)):
                value = Fake(attr, (), {'_module': value.__module__, '_name': attr})
            elif callable(value) and not isinstance(value, type) and name != 'base':
                value = FakeFunction(module.__name__, attr)
            setattr(fake, attr, value)
        sys.modules[module.__name__] = fake
        parent, _, last = module.__name__.rpartition('.')
        setattr(sys.modules[parent], last, fake)


def dispatch(function, resources):
    """A function of the tests, which runs where its arguments are, or here."""
    @functools.wraps(function)
    def inner(*args, **kwargs):
        where = agents_of(args, kwargs)
        given = list(args) + list(kwargs.values())
        if where is None and any(isinstance(a, type) and issubclass(a, resources) for a in given
                                 if type(a) is not Stand):
            return invoke(inner, args, kwargs)  # it makes a class of players
        if where is not None and len(where) == 1:
            return invoke(inner, args, kwargs)
        return function(*args, **kwargs)
    return inner


def patch(module, resources):
    for name, value in list(vars(module).items()):
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and \
                not name.startswith(('requires_', 'skip_')):
            setattr(module, name, dispatch(value, resources))


def status():
    out = subprocess.run([os.environ['WEFT'], 'status', '--json'], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out)


def until(true, what):
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise AssertionError('in vain: ' + what)
        time.sleep(0.02)  # time: between two looks


def cm_traffic(addresses, manager, expected):
    """In place of the method of that name, which makes both processes on one host."""
    def two_nodes_rdmacm_traffic(self, connection_resources, test_flow, bad_flow=False, **kwargs):
        shared = manager.Barrier(2, timeout=PATIENCE), manager.Queue()
        kwargs['connection_resources'] = connection_resources
        before = totals()
        for i, agent in ((1, agents[1]), (0, agents[0])):
            agent.ask('start_flow', type(self), test_flow.__name__, addresses[i],
                      addresses[1 - i], i == 1, shared, kwargs)
            players.append(agent.host)
        count = 1 if kwargs.get('reject_conn') else MESSAGES
        expected[agents[0]] = count
        expected[agents[1]] = count if test_flow.__name__ == 'rdmacm_traffic' else 0
        codes, quiet = [None, None], 0

        def done():
            nonlocal quiet
            codes[:] = [agent.ask('flow_code') for agent in agents]
            # Where one must not get on, it has got what it should, and the other waits for it.
            waits = bad_flow and shared[0].n_waiting == 1 and crossed(before, expected)
            quiet = quiet + 1 if waits else 0
            return quiet == 20 or None not in codes or any(codes)

        until(done, 'the end of both processes')
        if codes == [0, 0]:
            until(lambda: crossed(before, expected), 'packets that cross')
        for agent in agents:
            agent.ask('end_flow')
        if 5 in codes:
            raise unittest.SkipTest('SkipTest occurred')
        if any(codes) or bad_flow != (None in codes):
            raise AssertionError(f'the processes ended with {codes}')
    return two_nodes_rdmacm_traffic


def totals(hosts=None):
    """What the hosts of the agents have counted."""
    hosts = {h['name']: h['total'] for h in hosts or status()['hosts']}
    return [hosts[agent.host] for agent in agents]


def packets(before, now):
    """How many packets the hosts of the agents have sent and received since then."""
    return [[n[k] - then[k] for then, n in zip(before, now)] for k in ('tx_packets', 'rx_packets')]


def crossed(before, messages, now=None):
    """Whether each host got since then a packet at least for each message that the other sent."""
    tx, rx = packets(before, now or totals())
    return any(tx[i] and rx[1 - i] for i in (0, 1)) and \
        all(tx[i] >= messages[agents[i]] <= rx[1 - i] for i in (0, 1))


class Result(unittest.TestResult):
    """Tells what became of each test, and which packets crossed."""

    def __init__(self, expected):
        super().__init__()
        self.expected = expected
        self.counts = collections.Counter()
        self.before = self.after = None

    def tell(self, kind, test, more=''):
        self.counts[kind] += 1
        print(f'{kind}: {test.id()}{more}', flush=True)

    def startTest(self, test):
        super().startTest(test)
        players.clear()
        self.expected.clear()
        self.before = self.after or totals()

    def are_gone(self):
        """Whether no program is there any more; then, what all have counted is in after."""
        hosts = status()['hosts']
        self.after = totals(hosts)
        return not any(h['programs'] for h in hosts)

    def finish(self):
        """Ends what the test has left; returns what the hosts have counted since it began."""
        for agent in agents:
            sent, received = agent.ask('reset')
            self.expected[agent] = self.expected.get(agent, 0) + sent
        until(self.are_gone, 'the end of programs')
        return [{k: now[k] - then[k] for k in now} for then, now in zip(self.before, self.after)]

    def addSuccess(self, test):
        counted = self.finish()
        hosts = sorted(set(players))
        if len(hosts) < 2 and len(players) < 2:
            self.tell('local', test, ': it has one player')
            return
        wanted = [self.expected[agent] for agent in agents]
        numbers = '; '.join(f'{a.host} sent {w} messages, {c["tx_packets"]} packets, received '
                            f'{c["rx_packets"]}' for a, w, c in zip(agents, wanted, counted))
        if hosts != sorted(agent.host for agent in agents):
            self.tell('failed', test, f': its players are on {hosts}; {numbers}')
        elif not any(wanted) and not any(c['tx_packets'] for c in counted):
            self.tell('silent', test, ': it sends nothing; ' + numbers)
        elif crossed(self.before, self.expected, self.after):
            self.tell('crossed', test, ': ' + numbers)
        else:
            self.tell('failed', test, ': its messages did not cross; ' + numbers)

    def addSkip(self, test, reason):
        self.finish()
        self.tell('skipped', test, ': ' + reason)

    def addError(self, test, err):
        self.finish()
        if isinstance(err[1], NotSplit):
            self.tell('local', test, f': {err[1]}')
            return
        self.tell('failed', test, '\n' + ''.join(traceback.format_exception(*err)))

    addFailure = addError


def wait_first(tear_down, result):
    """In place of tearDown(), which closes the devices: what nobody waits for has arrived."""
    def tearDown(self):
        silent = 0

        def arrived():
            nonlocal silent
            tx, rx = packets(result.before, totals())
            # A program that has just sent something may not have counted it yet.
            silent = silent + 1 if not any(tx) else 0
            return silent == 3 or any(tx[i] and rx[1 - i] for i in (0, 1))

        try:
            if len(players) > 1:
                until(arrived, 'packets that arrive')
        finally:
            tear_down(self)
    return tearDown


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument('tests')
    args.add_argument('--hosts', nargs=2, default=['h1', 'h2'])
    args.add_argument('--only', default='')
    args.add_argument('--agent', nargs='+', help=argparse.SUPPRESS)
    args = args.parse_args()
    folder = os.path.abspath(args.tests)
    if args.agent:
        be_agent(folder, int(args.agent[0]), args.agent[1:])
        return
    modules = ['tests.' + f[:-3] for f in sorted(os.listdir(folder))
               if re.fullmatch(r'test_.*\.py', f) and not re.search('mlx5|efa|cuda', f)]
    agents[:] = [Remote(os.environ['WEFT'], host, folder, modules) for host in args.hosts]
    fake_pyverbs()
    find_tests(folder)
    base = importlib.import_module('tests.base')
    patch(importlib.import_module('tests.utils'), base.BaseResources)
    loaded = [importlib.import_module(module) for module in modules]
    for module in loaded:
        patch(module, base.BaseResources)
    base.BaseResources.__new__ = staticmethod(lambda cls, *a, **k: place(cls, a, k))

    ports = [agent.ask('ports', 1) for agent in agents]
    for i, agent in enumerate(agents):
        agent.ask('redirect', ports[i], ports[1 - i])
        agent.ask('set_key', bytes(multiprocessing.current_process().authkey))
    hosts = {h['name']: h['address'] for h in status()['hosts']}
    addresses = [hosts[host] for host in args.hosts]
    manager = multiprocessing.Manager()
    expected = {}
    base.RDMATestCase._get_ip_mac = \
        lambda self, dev, port, idx: self.args.append([dev, port, idx, addresses[0], None])
    base.RDMACMBaseTest.two_nodes_rdmacm_traffic = cm_traffic(addresses, manager, expected)

    result = Result(expected)
    base.RDMATestCase.tearDown = wait_first(base.RDMATestCase.tearDown, result)
    loader = unittest.TestLoader()
    for test in (t for module in loaded for t in each(loader.loadTestsFromModule(module))):
        if not re.search(args.only, test.id()):
            continue
        if type(test).__name__ in WHOLE:
            result.tell('local', test, ': ' + WHOLE[type(test).__name__])
        elif isinstance(test, base.RDMATestCase):
            test.run(result)
        else:
            result.tell('local', test, ': it has one player')
    for agent in agents:
        agent.sock.shutdown(socket.SHUT_RDWR)
        agent.process.wait()
    manager.shutdown()
    print(f'hosts {args.hosts[0]} and {args.hosts[1]}: ' + ', '.join(
        f'{result.counts[k]} {k}' for k in ('crossed', 'silent', 'local', 'skipped', 'failed')))
    sys.exit(result.counts['failed'] != 0)


if __name__ == '__main__':
    main()
