"""Train on several devices, of one process or of several.

::

    devices = Devices()                      # all that JAX knows
    # The graph is that of one device: `images` has the batch's rows divided by the devices
    loss, *gradients = all_reduce([loss, *pytensor.grad(loss, parameters)])
    step = pytensor.function(
        [images, targets], loss, updates=..., mode=jax_mode(mesh=devices.mesh), trust_input=True
    )
    devices.replicate(variables)             # all that the step reads or updates
    for batch in batches:
        step(*devices.shard(batch))

`devices` has `Devices`, and `sharding` what it does on a mesh and which results a step may have.
`processes.join` makes this process one of several, and `prefetch` brings batches ahead of time.
"""
