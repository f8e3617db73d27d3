"""Headers that come with a C or C++ implementation or with the system: no third-party package, never in a tree.

Names of ISO C 23 and C++ 23, POSIX.1-2024, and what glibc, BSD and Windows have beside them.
"""

from functools import cache

_C = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
"""
_CPP = """
algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
coroutine deque exception execution expected filesystem flat_map flat_set format forward_list fstream functional
future generator hazard_pointer initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
locale map mdspan memory memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio
rcu regex scoped_allocator semaphore set shared_mutex source_location span spanstream sstream stack stacktrace
stdexcept stdfloat stop_token streambuf string string_view strstream syncstream system_error text_encoding thread
tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version cxxabi.h
"""
_SYSTEM = """
aio aliases alloca ar byteswap complex cpio crypt dirent dlfcn elf endian err error execinfo fcntl features fmtmsg
fnmatch fstab fts ftw getopt glob grp iconv ifaddrs langinfo libgen libintl link malloc memory mntent monetary mqueue
ndbm netdb nl_types nlist obstack paths poll pthread pthread_np pty pwd regex resolv sched search semaphore shadow
spawn strings stropts sysexits syslog tar termio termios trace ttyent ucontext ulimit unistd util utime utmp utmpx
values wait wordexp xlocale
conio crtdbg direct dbghelp dos excpt fileapi guiddef immintrin emmintrin xmmintrin pmmintrin tmmintrin smmintrin
nmmintrin wmmintrin x86intrin arm_neon arm_acle intrin cpuid io iphlpapi mmsystem mswsock objbase oleauto process
psapi share shellapi shlobj shlwapi synchapi tchar tlhelp32 unknwn versionhelpers winbase wincrypt windef windows
windowsx winerror winioctl winnls winnt winreg winsock winsock2 winuser ws2ipdef ws2tcpip wspiapi
TargetConditionals Availability AvailabilityMacros libproc available kvm mach-o dispatch
"""
_FOLDERS = (
    "sys/", "net/", "netinet/", "netinet6/", "arpa/", "bits/", "asm/", "linux/", "machine/", "mach/", "gnu/", "rpc/",
    "mach-o/", "CoreFoundation/", "CoreServices/", "Security/", "experimental/", "ext/", "scsi/", "libkern/",
)  # fmt: skip


@cache
def standard() -> frozenset[str]:
    """Return header names, and folders that end in `/` for all beneath them."""
    headers = [f"{name}.h" for name in (_C + _SYSTEM).split()]
    from_c = [f"c{name}" for name in _C.split()]
    return frozenset((*headers, *from_c, *_CPP.split(), *_FOLDERS))
