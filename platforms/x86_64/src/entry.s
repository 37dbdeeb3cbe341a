# From the loader's 32-bit protected mode to 64-bit Rust (the PVH boot protocol: ebx points to the start info).
# The first 4 GiB are mapped as they are; `memory/map.rs` replaces this map by one with rights.

.section .note.pvh, "a", @note
    .align 4
    .long 4, 4, 18                      # XEN_ELFNOTE_PHYS32_ENTRY
    .ascii "Xen\0"
    .long pvh_start

.section .text.entry, "ax"
.code32
.global pvh_start
pvh_start:
    cli
    cld
    mov edi, ebx
    mov dword ptr [boot_pml4], offset boot_pdpt + 3
    mov eax, offset boot_pd + 3
    xor ecx, ecx
1:  mov [boot_pdpt + ecx * 8], eax
    add eax, 4096
    inc ecx
    cmp ecx, 4
    jne 1b
    mov eax, 0x83                       # present, writable, 2 MiB
    xor ecx, ecx
2:  mov [boot_pd + ecx * 8], eax
    add eax, 0x200000
    inc ecx
    cmp ecx, 2048
    jne 2b
    mov eax, offset boot_pml4
    mov cr3, eax
    mov eax, cr4
    or eax, 0x6a0                       # PAE, PGE, OSFXSR, OSXMMEXCPT
    mov cr4, eax
    mov ecx, 0xc0000080                 # EFER
    rdmsr
    or eax, 0x900                       # LME, NXE
    wrmsr
    mov eax, cr0
    and eax, 0xfffffffb                 # no emulation of the x87
    or eax, 0x80010022                  # PG, WP, NE, MP
    mov cr0, eax
    lgdt [boot_gdt_pointer]
    ljmp 0x8, offset boot64

.code64
boot64:
    mov ax, 0x10
    mov ss, ax
    mov ds, ax
    mov es, ax
    xor eax, eax
    mov fs, ax
    mov gs, ax
    lea rsp, [rip + boot_stack_top]
    mov edi, edi
    xor ebp, ebp
    call {start}
    ud2

.section .rodata.boot, "a"
    .align 8
boot_gdt:
    .quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
boot_gdt_pointer:
    .word 23
    .long boot_gdt

.section .bss.boot, "aw", @nobits
    .align 4096
boot_pml4: .skip 4096
boot_pdpt: .skip 4096
boot_pd: .skip 4096 * 4
# The stack of CPU 0's executor; guests and kernel calls have stacks of their own.
    .skip 128 << 10
boot_stack_top:
